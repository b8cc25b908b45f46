import { setImmediate } from "node:timers/promises";
import { parsePng } from "./png-header.ts";
import { PngRows } from "./png-rows.ts";
import { type Pixels, writePng } from "./write-png.ts";

/** What a picture has to fit into. */
export interface ImageCaps {
  readonly maxSidePixels: number;
  readonly maxAreaPixels: number;
  readonly maxBytes: number;
}

/** Decoding more would take too much memory. */
const MAX_SOURCE_PIXELS = 40_000_000;
const MIN_LONG_SIDE_PIXELS = 128;
/** Pixels decoded before others get their turn. */
const PIXELS_PER_TURN = 250_000;

/** A smaller PNG of a PNG; undefined when it cannot be decoded or does not fit at any useful size. */
export async function shrinkPng(
  bytes: Buffer,
  caps: ImageCaps,
  signal: AbortSignal,
): Promise<Buffer | undefined> {
  const header = parsePng(bytes);
  if (header === undefined || header.width * header.height > MAX_SOURCE_PIXELS) return undefined;
  const rows = await PngRows.open(header);
  if (rows === undefined) return undefined;
  const first = Math.min(
    1,
    caps.maxSidePixels / Math.max(header.width, header.height),
    Math.sqrt(caps.maxAreaPixels / (header.width * header.height)),
  );
  let pixels = await scaledRows(rows.rgba(), header, { scale: first, signal });
  for (;;) {
    const png = await writePng(pixels);
    if (png.length <= caps.maxBytes) return png;
    if (Math.max(pixels.width, pixels.height) <= MIN_LONG_SIDE_PIXELS) return undefined;
    pixels = await scaledRows(rowsOf(pixels), pixels, { scale: 0.75, signal });
  }
}

interface Scaling {
  /** At most 1. */
  readonly scale: number;
  readonly signal: AbortSignal;
}

/** Averages the pixels that fall onto each pixel of the smaller picture. */
async function scaledRows(
  rows: Iterable<Uint8Array>,
  source: { readonly width: number; readonly height: number },
  { scale, signal }: Scaling,
): Promise<Pixels> {
  const width = Math.max(1, Math.floor(source.width * scale));
  const height = Math.max(1, Math.floor(source.height * scale));
  const rgba = new Uint8Array(width * height * 4);
  const sums = new Float64Array(width * 5);
  const columns = Uint32Array.from(
    { length: source.width },
    (_, x) => Math.floor((x * width) / source.width) * 5,
  );
  let y = 0;
  for (const row of rows) {
    addRow(row, columns, sums);
    const target = Math.floor((y * height) / source.height);
    y += 1;
    if (y === source.height || Math.floor((y * height) / source.height) !== target) {
      writeAverages(sums, rgba.subarray(target * width * 4, (target + 1) * width * 4));
      sums.fill(0);
    }
    if (y % Math.max(1, Math.floor(PIXELS_PER_TURN / source.width)) === 0) {
      await setImmediate();
      signal.throwIfAborted();
    }
  }
  return { width, height, rgba };
}

/** Adds each pixel to the sums of its column. Colours count by their alpha, so that invisible ones do not show. */
function addRow(row: Uint8Array, columns: Uint32Array, sums: Float64Array): void {
  for (let x = 0; x < columns.length; x += 1) {
    const from = x * 4;
    const to = columns[x] ?? 0;
    const alpha = row[from + 3] ?? 0;
    sums[to] = (sums[to] ?? 0) + (row[from] ?? 0) * alpha;
    sums[to + 1] = (sums[to + 1] ?? 0) + (row[from + 1] ?? 0) * alpha;
    sums[to + 2] = (sums[to + 2] ?? 0) + (row[from + 2] ?? 0) * alpha;
    sums[to + 3] = (sums[to + 3] ?? 0) + alpha;
    sums[to + 4] = (sums[to + 4] ?? 0) + 1;
  }
}

function writeAverages(sums: Float64Array, row: Uint8Array): void {
  for (let from = 0, to = 0; to < row.length; from += 5, to += 4) {
    const alpha = sums[from + 3] ?? 0;
    for (let channel = 0; channel < 3; channel += 1) {
      row[to + channel] = alpha === 0 ? 0 : Math.round((sums[from + channel] ?? 0) / alpha);
    }
    row[to + 3] = Math.round(alpha / (sums[from + 4] ?? 1));
  }
}

function* rowsOf({ width, rgba }: Pixels): Generator<Uint8Array> {
  for (let at = 0; at < rgba.length; at += width * 4) yield rgba.subarray(at, at + width * 4);
}
