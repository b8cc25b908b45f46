/** What is needed of a PNG file to decode its pixels. PNG specification, third edition. */
export interface PngHeader {
  readonly width: number;
  readonly height: number;
  readonly bitDepth: number;
  /** Samples of a pixel: 1 (grey or palette), 2 (grey, alpha), 3 (colours), 4 (colours, alpha). */
  readonly channels: number;
  /** Red, green, blue for each index of a palette picture. */
  readonly palette: Buffer | undefined;
  /** Alpha for each index of a palette picture; opaque beyond its end. */
  readonly paletteAlpha: Buffer | undefined;
  /** Compressed rows. */
  readonly data: Buffer;
}

const SIGNATURE_BYTES = 8;
const HEADER_BYTES = 13;
const PALETTE_TYPE = 3;
const channelsOfType: Readonly<Record<number, number>> = { 0: 1, 2: 3, [PALETTE_TYPE]: 1, 4: 2, 6: 4 };

/** Undefined for what is damaged, and for interlaced pictures. */
export function parsePng(bytes: Buffer): PngHeader | undefined {
  const data: Buffer[] = [];
  const others = new Map<string, Buffer>();
  for (let at = SIGNATURE_BYTES; at + 12 <= bytes.length; ) {
    const end = at + 8 + bytes.readUInt32BE(at);
    const type = bytes.toString("latin1", at + 4, at + 8);
    const content = bytes.subarray(at + 8, end);
    if (type === "IDAT") data.push(content);
    else others.set(type, content);
    at = end + 4;
  }
  const header = others.get("IHDR");
  if (header === undefined || header.length < HEADER_BYTES || !others.has("IEND")) return undefined;
  const colourType = header.readUInt8(9);
  const channels = channelsOfType[colourType];
  const palette = others.get("PLTE");
  const isInterlaced = header.readUInt8(12) !== 0;
  if (channels === undefined || isInterlaced || (colourType === PALETTE_TYPE && palette === undefined))
    return undefined;
  return {
    width: header.readUInt32BE(0),
    height: header.readUInt32BE(4),
    bitDepth: header.readUInt8(8),
    channels,
    palette: colourType === PALETTE_TYPE ? palette : undefined,
    paletteAlpha: colourType === PALETTE_TYPE ? others.get("tRNS") : undefined,
    data: Buffer.concat(data),
  };
}
