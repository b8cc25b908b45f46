import fc from "fast-check";
import { expect, it } from "vitest";
import { countLineFeeds } from "./count-line-feeds.ts";

const byte = fc.oneof(fc.constantFrom(0x0a, 0x09, 0x0b, 0x8a, 0x0d, 0x00, 0x80, 0xff), fc.nat(255));

it("counts as one would byte by byte, wherever the bytes begin and end", () => {
  fc.assert(
    fc.property(fc.array(byte, { maxLength: 40 }), fc.nat(7), fc.nat(7), (values, skipped, dropped) => {
      const bytes = Uint8Array.from(values).subarray(skipped, Math.max(skipped, values.length - dropped));
      expect(countLineFeeds(bytes)).toBe(bytes.reduce((sum, value) => sum + (value === 10 ? 1 : 0), 0));
    }),
    { numRuns: 2_000 },
  );
});

it("counts more than a lane holds", () => {
  expect(countLineFeeds(new Uint8Array(100_003).fill(10))).toBe(100_003);
});
