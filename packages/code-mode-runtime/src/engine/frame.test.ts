import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { encodeFrame, type Frame, FrameReader } from "./frame.ts";

const frame: fc.Arbitrary<Frame> = fc.record({
  cell: fc.nat(2 ** 32 - 1),
  kind: fc.nat(255),
  fields: fc.array(fc.string({ unit: "grapheme" }), { maxLength: 4 }),
});

describe("frames", () => {
  it("come out as they went in, however the bytes are cut", () => {
    fc.assert(
      fc.property(
        fc.array(frame, { maxLength: 6 }),
        fc.array(fc.nat(40), { maxLength: 40 }),
        (frames, cuts) => {
          const bytes = Buffer.concat(frames.map(encodeFrame));
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
    const bytes = encodeFrame({ cell: 1, kind: 2, fields: ["x".repeat(200)] });
    expect(() => [...new FrameReader(100).push(bytes.subarray(0, 8))]).toThrow(RangeError);
  });

  it("whose fields do not add up are refused", () => {
    const bytes = encodeFrame({ cell: 1, kind: 2, fields: ["abc"] });
    bytes.writeUInt32LE(400, 9);
    expect(() => [...new FrameReader(1000).push(bytes)]).toThrow(RangeError);
  });
});
