import type { LintResult } from "./run-linter.ts";

const MAX_OUTPUT_CHARS = 50_000;
const CUT = "\n[output cut]";

/** All results for the model, each with its share of the room. */
export function renderLint(results: readonly LintResult[]): string {
  const share = Math.floor(MAX_OUTPUT_CHARS / Math.max(1, results.length)) - 1;
  return results.map((result) => cut(render(result), share)).join("\n");
}

/** The same in numbers, for programs. */
export function lintData(results: readonly LintResult[]): Record<string, unknown> {
  return {
    linters: results.map((result) => ({
      name: result.linter.name,
      status: result.kind,
      issues: result.kind === "checked" ? result.issueCount : null,
    })),
  };
}

function render(result: LintResult): string {
  const { name } = result.linter;
  switch (result.kind) {
    case "checked": {
      if (result.issueCount === 0) return `[${name}] No issues found.`;
      // First, where it survives the cut.
      const note = result.cutBy === undefined ? "" : ` (it gave up with exit code ${result.cutBy})`;
      return `[${name}] ${result.issueCount} issue(s)${note}:\n${result.text}`;
    }
    case "failed":
      return `[${name}] Failed: ${result.message}`;
    case "missing":
      return `[${name}] Not installed.`;
    case "left-out":
      return `[${name}] Left out: it runs code of this folder, which is not trusted. Name it in \`linter\` to have the user asked.`;
  }
}

function cut(text: string, maxChars: number): string {
  if (text.length <= maxChars) return text;
  return text.slice(0, maxChars - CUT.length).toWellFormed() + CUT;
}
