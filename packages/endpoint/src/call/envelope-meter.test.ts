import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { EnvelopeMeter } from "./envelope-meter.ts";

describe("EnvelopeMeter", () => {
  it("counts the bytes since the end of the last whole message, however the bytes are cut", () => {
    fc.assert(
      fc.property(
        fc.array(fc.nat({ max: 700 }), { minLength: 1, maxLength: 5 }),
        fc.array(fc.integer({ min: 1, max: 50 }), { minLength: 1 }),
        (lengths, cuts) => {
          const frames = lengths.map((length) => {
            const frame = Buffer.alloc(5 + length, 7);
            frame.writeUInt32BE(length, 1);
            return frame;
          });
          const ends = new Set<number>();
          let total = 0;
          for (const frame of frames) ends.add((total += frame.byteLength));
          const bytes = Buffer.concat(frames);
          const meter = new EnvelopeMeter();
          for (let offset = 0, turn = 0; offset < bytes.byteLength; turn++) {
            const end = Math.min(bytes.byteLength, offset + cuts[turn % cuts.length]!);
            meter.add(bytes.subarray(offset, end));
            offset = end;
            const lastEnd = Math.max(0, ...[...ends].filter((whole) => whole <= offset));
            expect(meter.unfinishedBytes).toBe(offset - lastEnd);
          }
        },
      ),
      { seed: 3 },
    );
  });

  it("knows lengths beyond 2 GiB", () => {
    const meter = new EnvelopeMeter();
    meter.add(Uint8Array.of(0, 0xff, 0xff, 0xff, 0xff));
    meter.add(new Uint8Array(1000));
    expect(meter.unfinishedBytes).toBe(1005);
  });
});
