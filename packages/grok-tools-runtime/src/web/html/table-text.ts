/**
 * A table of one-line cells. The first row is its head, as wide as the widest row. A table of a single column is only
 * layout: its cells become paragraphs.
 */
export function tableText(rows: readonly (readonly string[])[]): string {
  const filled = rows
    .filter((row) => row.some((cell) => cell !== ""))
    .map((row) => row.slice(0, MAX_COLUMNS));
  const columns = filled.reduce((most, row) => Math.max(most, row.length), 0);
  const [head = [], ...body] = filled;
  if (columns <= 1) return filled.flat().join("\n\n");
  const missing = Array.from({ length: columns - head.length }, () => "");
  const line = Array.from({ length: columns }, () => "---");
  // Short rows stay short: one wide row must not widen thousands of others.
  return [[...head, ...missing], line, ...body].map(rowText).join("\n");
}

/** Tables for reading are narrower; what has more columns is cut. */
const MAX_COLUMNS = 100;

function rowText(cells: readonly string[]): string {
  return `| ${cells.map((cell) => cell.replaceAll("|", "\\|")).join(" | ")} |`;
}
