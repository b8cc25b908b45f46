/** A caller's text for a message: whole when it is short, else its beginning. Statuses travel in headers, which are small. */
export function shorten(text: string, maxLength: number = 200): string {
  if (text.length <= maxLength) return text;
  // Not between the halves of a surrogate pair.
  return `${text.slice(0, maxLength - 1).replace(/[\uD800-\uDBFF]$/, "")}…`;
}
