/** Characters of base64 that are looked at for the header of a sound. */
const HEADER_CHARACTERS = 4096;

/** The length of a RIFF/WAVE file in a base64 `data:` URL; undefined for any other sound. */
export function audioSeconds(url: string): number | undefined {
  const comma = url.indexOf(",");
  if (comma < 0 || !url.slice(0, comma).toLowerCase().endsWith(";base64")) return undefined;
  const bytes = decodeBase64(url.slice(comma + 1, comma + 1 + HEADER_CHARACTERS));
  if (bytes.length < 12 || latin1(bytes, 0) !== "RIFF" || latin1(bytes, 8) !== "WAVE") return undefined;
  const view = new DataView(bytes.buffer);
  let bytesPerSecond = 0;
  for (let at = 12; at + 8 <= bytes.length; ) {
    const chunk = latin1(bytes, at);
    const length = view.getUint32(at + 4, true);
    if (chunk === "fmt " && at + 20 <= bytes.length) bytesPerSecond = view.getUint32(at + 16, true);
    if (chunk === "data") {
      if (bytesPerSecond === 0) return undefined;
      const presentBytes = Math.floor(((url.length - comma - 1) * 3) / 4) - (at + 8);
      return Math.max(0, Math.min(length, presentBytes)) / bytesPerSecond;
    }
    // Chunks are padded to an even length.
    at += 8 + length + (length % 2);
  }
  return undefined;
}

function decodeBase64(text: string): Uint8Array<ArrayBuffer> {
  try {
    return Uint8Array.from(atob(text.slice(0, text.length - (text.length % 4))), (character) =>
      character.charCodeAt(0),
    );
  } catch {
    return new Uint8Array();
  }
}

function latin1(bytes: Uint8Array, at: number): string {
  return String.fromCharCode(...bytes.subarray(at, at + 4));
}
