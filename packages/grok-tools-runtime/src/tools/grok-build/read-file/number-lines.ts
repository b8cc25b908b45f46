/** Every line whose number is a multiple of this carries its number, and so does the first one shown. */
const ANCHOR_INTERVAL = 10;

/** Lines as a model reads them: joined by line feeds, some with an anchor `N→`. */
export function numberLines(lines: readonly string[], firstLine: number): string {
  return lines
    .map((line, index) => {
      const number = firstLine + index;
      return index === 0 || number % ANCHOR_INTERVAL === 0 ? `${number}→${line}` : line;
    })
    .join("\n");
}

/** The same with an anchor on each line. */
export function numberEveryLine(lines: readonly string[]): string {
  return lines.map((line, index) => `${index + 1}→${line}`).join("\n");
}
