/** Bytes of base64 that are looked at for the header of a sound. */
const HEADER_CHARACTERS = 4096;

/**
 * The length of the sound in a `data:` URL, if it is a RIFF/WAVE file in base64. Undefined for anything else.
 *
 * Formats that say their length only after decoding are charged by the size of their text.
 */
export function audioSeconds(url: string): number | undefined {
  const comma = url.indexOf(",");
  if (comma < 0 || !url.slice(0, comma).toLowerCase().endsWith(";base64")) return undefined;
  const header = Buffer.from(url.slice(comma + 1, comma + 1 + HEADER_CHARACTERS), "base64");
  if (header.length < 12 || header.toString("latin1", 0, 4) !== "RIFF") return undefined;
  if (header.toString("latin1", 8, 12) !== "WAVE") return undefined;
  let bytesPerSecond: number | undefined;
  for (let at = 12; at + 8 <= header.length; ) {
    const chunk = header.toString("latin1", at, at + 4);
    const length = header.readUInt32LE(at + 4);
    if (chunk === "fmt " && at + 20 <= header.length) bytesPerSecond = header.readUInt32LE(at + 16);
    if (chunk === "data") {
      if (bytesPerSecond === undefined || bytesPerSecond === 0) return undefined;
      const presentBytes = Math.floor(((url.length - comma - 1) * 3) / 4) - (at + 8);
      return Math.max(0, Math.min(length, presentBytes)) / bytesPerSecond;
    }
    // Chunks are padded to an even length.
    at += 8 + length + (length % 2);
  }
  return undefined;
}
