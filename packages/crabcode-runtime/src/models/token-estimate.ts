/**
 * Tokens of a text by its length alone: a quarter of a token per character, more for characters of several UTF-8
 * bytes. 0 for an empty text, else at least 1.
 */
export function estimateTokens(text: string): number {
  let characters = 0;
  for (const _ of text) characters += 1;
  if (characters === 0) return 0;
  const bytes = new TextEncoder().encode(text).byteLength;
  return Math.max(1, Math.floor(characters * (0.25 + (bytes / characters - 1) * 0.625)));
}
