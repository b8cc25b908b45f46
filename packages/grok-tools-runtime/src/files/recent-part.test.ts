import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { temporaryFolder } from "@trivium/core/testing";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { openFile } from "./open-file.ts";

const KIB = 1024;
const SIZE = 700 * KIB + 13;
const content = Buffer.from(Uint32Array.from({ length: SIZE / 4 + 1 }, (_, index) => index).buffer).subarray(
  0,
  SIZE,
);

/** Places and lengths near those at which a part is kept or not, is enlarged, or ends with the file. */
const near = (...places: number[]): fc.Arbitrary<number> =>
  fc
    .tuple(fc.constantFrom(...places), fc.integer({ min: -2, max: 2 }))
    .map(([at, by]) => Math.max(0, at + by));
const part = fc.record({
  start: fc.oneof(near(0, 64 * KIB, 256 * KIB, SIZE - 64 * KIB, SIZE), fc.nat(SIZE)),
  length: fc.oneof(near(3, 64 * KIB, 256 * KIB, SIZE), fc.nat(300 * KIB)),
});

describe("a part of an open file", () => {
  it("is what the file holds there, one after another and at once, until the file is closed", async () => {
    await using folder = await temporaryFolder();
    const path = join(folder.path, "f.bin");
    await writeFile(path, content);
    await fc.assert(
      fc.asyncProperty(fc.array(fc.array(part, { maxLength: 3 }), { maxLength: 5 }), async (rounds) => {
        await using file = await openFile(path, undefined);
        const reads: { start: number; length: number; bytes: Buffer }[] = [];
        for (const round of rounds) {
          const bytes = await Promise.all(
            round.map(({ start, length }) => file.recent.read(file.handle, start, length)),
          );
          reads.push(...round.map((one, index) => ({ ...one, bytes: bytes[index] ?? Buffer.alloc(0) })));
        }
        for (const { start, length, bytes } of reads) {
          const expected = content.subarray(start, start + length);
          expect(bytes.equals(expected), `${length} bytes at ${start}: ${bytes.length}`).toBe(true);
        }
      }),
      { numRuns: 60 },
    );
  });
});
