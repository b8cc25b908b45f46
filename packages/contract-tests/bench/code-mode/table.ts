/** One line of the table. */
export interface Row {
  readonly figure: string;
  readonly ours: number;
  readonly original: number | undefined;
  readonly goal: string;
}

/** The first lines of a Markdown table of rows. */
export function tableHead(): string {
  const head = ["Figure", "Ours", "Original", "Ratio", "Goal"];
  return [head, head.map(() => "---")].map(lineOf).join("\n");
}

/** One row as a line of that table. */
export function tableLine({ figure, ours, original, goal }: Row): string {
  const theirs = original === undefined ? ["", ""] : [format(original), ratio(ours, original)];
  return lineOf([figure, format(ours), ...theirs, goal]);
}

function lineOf(cells: readonly string[]): string {
  return `| ${cells.join(" | ")} |`;
}

function ratio(ours: number, original: number): string {
  return original > 0 && Number.isFinite(ours) ? (ours / original).toFixed(2) : "";
}

function format(value: number): string {
  if (!Number.isFinite(value)) return Number.isNaN(value) ? "" : "not seen";
  if (Math.abs(value) >= 100) return value.toFixed(0);
  return value.toFixed(Math.abs(value) >= 10 ? 1 : 2);
}
