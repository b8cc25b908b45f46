/**
 * The characters with the Unicode property White_Space. `String.trim` would also take the byte order mark, and leave
 * U+0085.
 */
const whitespace = /[\t-\r \u0085\u00a0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000]/;

/** The text without white space at its end. */
export function trimEnd(text: string): string {
  let end = text.length;
  while (end > 0 && whitespace.test(text.charAt(end - 1))) end -= 1;
  return text.slice(0, end);
}

/** The text without white space at both ends. */
export function trim(text: string): string {
  const trimmed = trimEnd(text);
  let start = 0;
  while (start < trimmed.length && whitespace.test(trimmed.charAt(start))) start += 1;
  return trimmed.slice(start);
}
