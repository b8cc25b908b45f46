import { promisify } from "node:util";
import { crc32, deflate } from "node:zlib";

const deflateAsync = promisify(deflate);

/** Pixels as red, green, blue, alpha. */
export interface Pixels {
  readonly width: number;
  readonly height: number;
  readonly rgba: Uint8Array;
}

const SIGNATURE = Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]);
const UP_FILTER = 2;

/** A PNG file of pixels, without alpha when they are all opaque. */
export async function writePng({ width, height, rgba }: Pixels): Promise<Buffer> {
  const channels = isOpaque(rgba) ? 3 : 4;
  const rows = Buffer.alloc(height * (width * channels + 1));
  let to = 0;
  for (let y = 0; y < height; y += 1) {
    rows[to] = UP_FILTER;
    to += 1;
    for (let from = y * width * 4; from < (y + 1) * width * 4; from += 4) {
      for (let channel = 0; channel < channels; channel += 1) {
        const above = y === 0 ? 0 : (rgba[from + channel - width * 4] ?? 0);
        rows[to] = (rgba[from + channel] ?? 0) - above;
        to += 1;
      }
    }
  }
  const header = Buffer.alloc(13);
  header.writeUInt32BE(width, 0);
  header.writeUInt32BE(height, 4);
  header.writeUInt8(8, 8);
  header.writeUInt8(channels === 3 ? 2 : 6, 9);
  return Buffer.concat([
    SIGNATURE,
    chunk("IHDR", header),
    chunk("IDAT", await deflateAsync(rows, { level: 9 })),
    chunk("IEND", Buffer.alloc(0)),
  ]);
}

function isOpaque(rgba: Uint8Array): boolean {
  for (let at = 3; at < rgba.length; at += 4) if (rgba[at] !== 255) return false;
  return true;
}

function chunk(type: string, data: Buffer): Buffer {
  const body = Buffer.concat([Buffer.from(type, "latin1"), data]);
  const frame = Buffer.alloc(8);
  frame.writeUInt32BE(data.length, 0);
  frame.writeUInt32BE(crc32(body), 4);
  return Buffer.concat([frame.subarray(0, 4), body, frame.subarray(4)]);
}
