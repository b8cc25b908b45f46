import { deflateSync } from "node:zlib";
import { describe, expect, it } from "vitest";
import { parsePng } from "./png-header.ts";
import { PngRows } from "./png-rows.ts";
import { shrinkPng } from "./shrink-png.ts";
import { writePng } from "./write-png.ts";

const caps = { maxSidePixels: 100, maxAreaPixels: 100 * 100, maxBytes: 1_000_000 };
const { signal } = new AbortController();

describe("PNG pictures", () => {
  it.each([255, 128])("come back from their file as they were, alpha %i", async (alpha) => {
    const rgba = Uint8Array.from({ length: 7 * 5 * 4 }, (_, at) => (at % 4 === 3 ? alpha : (at * 37) % 256));
    expect(await pixelsOf(await writePng({ width: 7, height: 5, rgba }))).toEqual([...rgba]);
  });

  it.each([
    {
      what: "grey of one bit",
      type: 0,
      depth: 1,
      rows: [[0b10100000]],
      pixels: [255, 0, 255].flatMap((v) => [v, v, v, 255]),
    },
    {
      what: "grey with alpha",
      type: 4,
      depth: 8,
      rows: [[9, 8, 7, 6, 5, 4]],
      pixels: [9, 9, 9, 8, 7, 7, 7, 6, 5, 5, 5, 4],
    },
    {
      what: "a palette",
      type: 3,
      depth: 4,
      rows: [[0x10, 0x10]],
      pixels: [4, 5, 6, 255, 1, 2, 3, 77, 4, 5, 6, 255],
    },
    {
      what: "16 bits",
      type: 0,
      depth: 16,
      rows: [[1, 0, 2, 0, 3, 0]],
      pixels: [1, 2, 3].flatMap((v) => [v, v, v, 255]),
    },
  ])("are read from $what", async ({ type, depth, rows, pixels }) => {
    expect(
      await pixelsOf(png({ width: 3, height: 1, type, depth, rows: rows.map((row) => [0, ...row]) })),
    ).toEqual(pixels);
  });

  it.each([
    { filter: 1, row: [1, 1, 1], expected: [1, 2, 3] },
    { filter: 2, row: [1, 1, 1], expected: [11, 21, 31] },
    { filter: 3, row: [1, 1, 1], expected: [6, 14, 23] },
    { filter: 4, row: [1, 1, 1], expected: [11, 21, 31] },
  ])("undo the filter $filter", async ({ filter, row, expected }) => {
    const rows = [
      [0, 10, 20, 30],
      [filter, ...row],
    ];
    const pixels = await pixelsOf(png({ width: 3, height: 2, type: 0, depth: 8, rows }));
    expect(pixels.filter((_, at) => at % 4 === 0).slice(3)).toEqual(expected);
  });

  it("are scaled down to both caps, with averaged colours", async () => {
    const rgba = Uint8Array.from({ length: 400 * 200 * 4 }, (_, at) =>
      at % 4 === 3 ? 255 : (at >> 2) % 2 === 0 ? 0 : 200,
    );
    const small = await shrinkPng(await writePng({ width: 400, height: 200, rgba }), caps, signal);
    const header = parsePng(small!);
    expect(header).toMatchObject({ width: 100, height: 50 });
    expect((await pixelsOf(small!)).slice(0, 4)).toEqual([100, 100, 100, 255]);
  });

  it("are made smaller until their bytes fit", async () => {
    let state = 1;
    const rgba = Uint8Array.from({ length: 300 * 300 * 4 }, (_, at) => {
      state = (state * 1103515245 + 12345) % 2 ** 31;
      return at % 4 === 3 ? 255 : state >> 16;
    });
    const noisy = await writePng({ width: 300, height: 300, rgba });
    const small = await shrinkPng(
      noisy,
      { ...caps, maxSidePixels: 300, maxAreaPixels: 90_000, maxBytes: 100_000 },
      signal,
    );
    expect(small!.length).toBeLessThanOrEqual(100_000);
    expect(await shrinkPng(noisy, { ...caps, maxBytes: 1000 }, signal)).toBeUndefined();
  });

  it("are given up when they are damaged or claim to be huge", async () => {
    const good = png({ width: 3, height: 1, type: 0, depth: 8, rows: [[0, 1, 2, 3]] });
    expect(await shrinkPng(good.subarray(0, good.length - 12), caps, signal)).toBeUndefined();
    expect(
      await shrinkPng(png({ width: 9, height: 9, type: 0, depth: 8, rows: [[0]] }), caps, signal),
    ).toBeUndefined();
    expect(
      await shrinkPng(png({ width: 1e6, height: 1e6, type: 0, depth: 8, rows: [[0]] }), caps, signal),
    ).toBeUndefined();
  });
});

async function pixelsOf(bytes: Buffer): Promise<number[]> {
  const pixels: number[] = [];
  for (const row of (await PngRows.open(parsePng(bytes)!))!.rgba()) pixels.push(...row);
  return pixels;
}

interface PngParts {
  readonly width: number;
  readonly height: number;
  readonly type: number;
  readonly depth: number;
  readonly rows: readonly (readonly number[])[];
}

function png({ width, height, type, depth, rows }: PngParts): Buffer {
  const header = Buffer.alloc(13);
  header.writeUInt32BE(width, 0);
  header.writeUInt32BE(height, 4);
  header.writeUInt8(depth, 8);
  header.writeUInt8(type, 9);
  const chunk = (name: string, data: Uint8Array): Buffer => {
    const length = Buffer.alloc(4);
    length.writeUInt32BE(data.length);
    return Buffer.concat([length, Buffer.from(name), data, Buffer.alloc(4)]);
  };
  return Buffer.concat([
    Buffer.alloc(8),
    chunk("IHDR", header),
    chunk("PLTE", Buffer.from([1, 2, 3, 4, 5, 6])),
    chunk("tRNS", Buffer.from([77])),
    chunk("IDAT", deflateSync(Buffer.from(rows.flat()))),
    chunk("IEND", Buffer.alloc(0)),
  ]);
}
