/** `12→`, as reading tools print it before a line. */
const anchor = /^\d+→/;

/**
 * The text without the line anchors of a reading tool.
 * Undefined unless every non-empty line carries one, so text that merely looks like an anchor stays.
 */
export function withoutLineAnchors(text: string): string | undefined {
  const lines = text.split("\n");
  const filled = lines.filter((line) => line !== "" && line !== "\r");
  if (filled.length === 0 || !filled.every((line) => anchor.test(line))) return undefined;
  return lines.map((line) => line.replace(anchor, "")).join("\n");
}
