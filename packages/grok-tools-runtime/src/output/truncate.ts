const PREVIEW_BYTES = 2_000;
const encoder = new TextEncoder();

/** Bytes of a text in UTF-8. */
export function utf8Length(text: string): number {
  let bytes = 0;
  for (let index = 0; index < text.length; index++) {
    const unit = text.charCodeAt(index);
    if (unit < 0x80) bytes += 1;
    else if (unit < 0x800) bytes += 2;
    else if (unit >= 0xd800 && unit < 0xdc00 && isLowSurrogate(text.charCodeAt(index + 1))) {
      bytes += 4;
      index++;
    } else bytes += 3;
  }
  return bytes;
}

function isLowSurrogate(unit: number): boolean {
  return unit >= 0xdc00 && unit < 0xe000;
}

/** The first 2000 bytes, ending at a character border, and a line that says how much there was. */
export function cutToPreview(text: string): string {
  const { read } = encoder.encodeInto(text, new Uint8Array(PREVIEW_BYTES));
  return `${text.slice(0, read)}\n\n[Output truncated - ${utf8Length(text)} bytes total]`;
}

/** A rough count of the tokens a model sees. */
export function estimateTokens(text: string, imageCount: number): number {
  const tokensPerImage = 765;
  return Math.min(Math.floor(utf8Length(text) / 4) + imageCount * tokensPerImage, 2 ** 31 - 1);
}
