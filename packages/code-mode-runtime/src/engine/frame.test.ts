import { Writable } from "node:stream";
import { isDeepStrictEqual } from "node:util";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { encodeFrame, type Frame, FrameReader, type OutgoingFrame, writeFrame } from "./frame.ts";

const frame: fc.Arbitrary<Frame> = fc.record({
  cell: fc.nat(2 ** 32 - 1),
  kind: fc.nat(255),
  fields: fc.array(fc.string({ unit: "grapheme" }), { maxLength: 4 }),
});

function bytesOf(frame: OutgoingFrame): Buffer {
  return Buffer.concat(encodeFrame(frame));
}

describe("frames", () => {
  it("come out as they went in, however the bytes are cut", () => {
    fc.assert(
      fc.property(
        fc.array(frame, { maxLength: 6 }),
        fc.array(fc.nat(40), { maxLength: 40 }),
        (frames, cuts) => {
          const bytes = Buffer.concat(frames.map(bytesOf));
          const reader = new FrameReader(1_000_000);
          const read: Frame[] = [];
          let offset = 0;
          for (const size of cuts) {
            read.push(...reader.push(bytes.subarray(offset, offset + size)));
            offset += size;
          }
          read.push(...reader.push(bytes.subarray(offset)));
          expect(read).toEqual(frames);
        },
      ),
    );
  });

  it("longer than allowed are refused before they are there", () => {
    const bytes = bytesOf({ cell: 1, kind: 2, fields: ["x".repeat(200)] });
    expect(() => [...new FrameReader(100).push(bytes.subarray(0, 8))]).toThrow(RangeError);
  });

  it("whose fields do not add up are refused", () => {
    const bytes = bytesOf({ cell: 1, kind: 2, fields: ["abc"] });
    bytes.writeUInt32LE(400, 9);
    expect(() => [...new FrameReader(1000).push(bytes)]).toThrow(RangeError);
  });

  it.each([0, 10, 64 * 1024, 64 * 1024 + 1, 300_000])("take %i bytes as their last field", (length) => {
    const frame = { cell: 7, kind: 3, fields: ["first"] };
    const chunks: Buffer[] = [];
    const stream = new Writable({
      write: (chunk: Buffer, _, done) => {
        chunks.push(chunk);
        done();
      },
    });
    writeFrame(stream, { ...frame, lastField: Buffer.alloc(length, "é") });
    writeFrame(stream, frame);
    const reader = new FrameReader(1_000_000);
    const text = Buffer.alloc(length, "é").toString();
    expect([...reader.push(Buffer.concat(chunks))]).toEqual([{ ...frame, fields: ["first", text] }, frame]);
  });

  it("of which the length is not all there yet are waited for", () => {
    const frame = { cell: 1, kind: 2, fields: ["abc"] };
    const bytes = Buffer.concat([bytesOf(frame), bytesOf(frame)]);
    const reader = new FrameReader(100);
    const sizes = [2, 5, bytesOf(frame).length - 4];
    const read: number[] = [];
    let offset = 0;
    for (const size of sizes) {
      read.push([...reader.push(bytes.subarray(offset, offset + size))].length);
      offset += size;
    }
    read.push([...reader.push(bytes.subarray(offset))].length);
    expect(read).toEqual([0, 0, 1, 1]);
  });

  it("with long texts keep every character", () => {
    const fields = ["a".repeat(5000), `${"a".repeat(5000)}é`, "ÿ".repeat(3000), "€😀".repeat(2000)];
    const frame = { cell: 1, kind: 2, fields };
    expect([...new FrameReader(1_000_000).push(bytesOf(frame))]).toEqual([frame]);
  });

  it("that are large are whole until the stream has taken them", async () => {
    const frames = ["é", "a"].map((letter) => ({
      cell: 1,
      kind: 2,
      fields: [letter.repeat(300_000), "end"],
    }));
    const taken: Buffer[] = [];
    const held: (() => void)[] = [];
    const stream = new Writable({
      write: (chunk: Buffer, _, done) => {
        taken.push(chunk);
        held.push(done);
      },
    });
    for (const frame of frames) writeFrame(stream, frame);
    for (const frame of frames) {
      const bytes = taken.at(-1) ?? Buffer.alloc(0);
      expect([...new FrameReader(1_000_000).push(Buffer.from(bytes))]).toEqual([frame]);
      held.pop()?.();
      // The stream tells it in a turn of its own.
      await new Promise((resolve) => setImmediate(resolve));
      expect(bytes.length).toBe(0);
    }
    expect(taken.length).toBe(2);
  });

  it("that are large come out whole wherever they are torn, and leave what follows alone", () => {
    const own = 256 * 1024;
    const headBytes = 9 + 4 + 3 + 4;
    const texts = [-1, 0, 1].map((more) => "x".repeat(own - headBytes + more));
    for (const text of [...texts, "ÿ".repeat(own), "€😀".repeat(own / 4), `${"a".repeat(own)}\ud800`]) {
      const large = { cell: 3, kind: 4, fields: ["abc", text] };
      const small = { cell: 5, kind: 6, fields: ["after it"] };
      const bytes = Buffer.concat([bytesOf(small), bytesOf(large), bytesOf(large), bytesOf(small)]);
      const first = bytesOf(small).length;
      const length = bytesOf(large).length;
      const borders = [first, first + 4, first + headBytes, first + length, first + 2 * length];
      const expected = [small, large, large, small].map(({ fields, ...rest }) => ({
        ...rest,
        fields: fields.map((field) => field.toWellFormed()),
      }));
      for (const border of borders) {
        for (const shift of [-1, 0, 1]) {
          const cuts = [0, border + shift, border + shift + 1, bytes.length];
          const reader = new FrameReader(4_000_000);
          const read = cuts.slice(1).flatMap((end, index) => {
            // The memory of a chunk is the stream's.
            const chunk = Buffer.from(bytes.subarray(cuts[index], end));
            const frames = [...reader.push(chunk)];
            expect(chunk.length).toBe(end - (cuts[index] ?? 0));
            return frames;
          });
          expect(isDeepStrictEqual(read, expected), `${text.length} at ${border + shift}`).toBe(true);
        }
      }
    }
  });
});
