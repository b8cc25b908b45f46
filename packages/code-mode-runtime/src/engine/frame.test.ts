import { Writable } from "node:stream";
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
});
