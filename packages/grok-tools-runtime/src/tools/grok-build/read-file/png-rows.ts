import { promisify } from "node:util";
import { inflate } from "node:zlib";
import type { PngHeader } from "./png-header.ts";

const inflateAsync = promisify(inflate);

/** The rows of a PNG picture, one after the other. */
export class PngRows {
  readonly #header: PngHeader;
  readonly #filtered: Buffer;
  readonly #rowBytes: number;
  /** Bytes to the same sample of the pixel on the left. */
  readonly #step: number;

  private constructor(header: PngHeader, filtered: Buffer) {
    this.#header = header;
    this.#filtered = filtered;
    this.#rowBytes = rowBytesOf(header);
    this.#step = Math.max(1, (header.channels * header.bitDepth) >> 3);
  }

  /** Undefined when the data is damaged. Memory: the uncompressed size of the picture. */
  static async open(header: PngHeader): Promise<PngRows | undefined> {
    const size = (rowBytesOf(header) + 1) * header.height;
    // Damaged, or larger than the header says.
    const filtered = await inflateAsync(header.data, { maxOutputLength: size + 1 }).catch(() => undefined);
    return filtered?.length === size ? new PngRows(header, filtered) : undefined;
  }

  /** Each row as red, green, blue, alpha; the same memory is used for all of them. */
  *rgba(): Generator<Uint8Array> {
    const { width, height } = this.#header;
    const row = new Uint8Array(width * 4);
    let above: Uint8Array = new Uint8Array(this.#rowBytes);
    for (let y = 0; y < height; y += 1) {
      const start = y * (this.#rowBytes + 1);
      const line = this.#filtered.subarray(start + 1, start + 1 + this.#rowBytes);
      unfilter(this.#filtered[start] ?? 0, { line, above, step: this.#step });
      this.#toRgba(line, row);
      above = line;
      yield row;
    }
  }

  #toRgba(line: Uint8Array, row: Uint8Array): void {
    const { width, channels, bitDepth, palette, paletteAlpha } = this.#header;
    const sampleBytes = bitDepth === 16 ? 2 : 1;
    for (let x = 0; x < width; x += 1) {
      const to = x * 4;
      if (palette !== undefined) {
        const index = packedSample(line, x, bitDepth);
        row[to] = palette[index * 3] ?? 0;
        row[to + 1] = palette[index * 3 + 1] ?? 0;
        row[to + 2] = palette[index * 3 + 2] ?? 0;
        row[to + 3] = paletteAlpha?.[index] ?? 255;
        continue;
      }
      const from = x * channels * sampleBytes;
      const grey =
        bitDepth < 8 ? (packedSample(line, x, bitDepth) * 255) / (2 ** bitDepth - 1) : (line[from] ?? 0);
      const isColour = channels >= 3;
      row[to] = grey;
      row[to + 1] = isColour ? (line[from + sampleBytes] ?? 0) : grey;
      row[to + 2] = isColour ? (line[from + 2 * sampleBytes] ?? 0) : grey;
      row[to + 3] = channels % 2 === 0 ? (line[from + (channels - 1) * sampleBytes] ?? 0) : 255;
    }
  }
}

function rowBytesOf({ width, channels, bitDepth }: PngHeader): number {
  return Math.ceil((width * channels * bitDepth) / 8);
}

/** Samples of less than a byte are packed, the leftmost in the high bits. */
function packedSample(line: Uint8Array, x: number, bitDepth: number): number {
  if (bitDepth >= 8) return line[x] ?? 0;
  const bit = x * bitDepth;
  return ((line[bit >> 3] ?? 0) >> (8 - bitDepth - (bit & 7))) & (2 ** bitDepth - 1);
}

interface FilteredLine {
  readonly line: Uint8Array;
  readonly above: Uint8Array;
  readonly step: number;
}

/** PNG specification 9.2: adds the prediction to each byte. One loop for each filter: this is the hot path. */
function unfilter(type: number, { line, above, step }: FilteredLine): void {
  switch (type) {
    case 1:
      for (let at = step; at < line.length; at += 1) line[at] = (line[at] ?? 0) + (line[at - step] ?? 0);
      break;
    case 2:
      for (let at = 0; at < line.length; at += 1) line[at] = (line[at] ?? 0) + (above[at] ?? 0);
      break;
    case 3:
      for (let at = 0; at < line.length; at += 1) {
        const left = at < step ? 0 : (line[at - step] ?? 0);
        line[at] = (line[at] ?? 0) + ((left + (above[at] ?? 0)) >> 1);
      }
      break;
    case 4:
      for (let at = 0; at < line.length; at += 1) {
        const left = at < step ? 0 : (line[at - step] ?? 0);
        const corner = at < step ? 0 : (above[at - step] ?? 0);
        line[at] = (line[at] ?? 0) + paeth(left, above[at] ?? 0, corner);
      }
      break;
    default:
      break;
  }
}

function paeth(left: number, up: number, corner: number): number {
  const byLeft = Math.abs(up - corner);
  const byUp = Math.abs(left - corner);
  const byCorner = Math.abs(left + up - 2 * corner);
  if (byLeft <= byUp && byLeft <= byCorner) return left;
  return byUp <= byCorner ? up : corner;
}
