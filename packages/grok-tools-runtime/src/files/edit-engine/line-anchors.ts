/** `12→`, as reading tools print it before a line. */
const anchor = /^\d+→/;

/**
 * The text without the line anchors of a reading tool.
 * Undefined unless every non-empty line carries one, so text that merely looks like an anchor stays.
 */
export function withoutLineAnchors(text: string): string | undefined {
  const filled = text.split(/\r?\n/).filter((line) => line !== "");
  if (filled.length === 0 || !filled.every((line) => anchor.test(line))) return undefined;
  return text
    .split("\n")
    .map((line) => line.replace(anchor, ""))
    .join("\n");
}
