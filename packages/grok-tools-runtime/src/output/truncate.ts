const PREVIEW_BYTES = 2_000;
const encoder = new TextEncoder();

/** Bytes of a text in UTF-8. */
export function utf8Length(text: string): number {
  return Buffer.byteLength(text, "utf8");
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
