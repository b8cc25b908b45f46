/** The first `count` characters of a text. None is cut in half, and the result is well-formed. */
export function firstCharacters(text: string, count: number): string {
  // A character has two UTF-16 units at most.
  return Array.from(text.slice(0, count * 2).toWellFormed())
    .slice(0, count)
    .join("");
}

/** How many characters a text has. */
export function characterCount(text: string): number {
  let count = 0;
  for (const _ of text) count++;
  return count;
}
