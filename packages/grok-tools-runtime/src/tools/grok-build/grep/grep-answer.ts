import type { ToolResult } from "../../../tool.ts";
import type { GrepOutputMode } from "./grep-schemas.ts";
import type { ListedLine } from "./listing.ts";

/** What a search led to. */
export interface GrepAnswer {
  readonly mode: GrepOutputMode;
  readonly workingDirectory: string;
  readonly lines: readonly ListedLine[];
  /** There may be more than these lines. */
  readonly isTruncated: boolean;
  readonly maxOutputBytes: number;
  /** Lines at the end of the answer. */
  readonly notes: readonly string[];
  readonly exitCode: number;
  readonly stderr: string;
}

/** The answer for a search that took place, with or without matches. */
export function grepAnswer(answer: GrepAnswer): ToolResult {
  const { mode, lines, isTruncated, notes } = answer;
  const shown = withinBytes(lines, answer.maxOutputBytes);
  const matchCount = lines.reduce((sum, line) => sum + line.matchCount, 0);
  const dropped = lines.slice(shown.length);
  const countable =
    mode === "content" ? dropped.filter(({ matchCount: count }) => count > 0).length : dropped.length;
  const atLeast = isTruncated ? "at least " : "";
  const body =
    lines.length === 0 && !isTruncated
      ? ["No matches found"]
      : [
          headline(answer, matchCount, atLeast),
          ...shown.map(({ text }) => text),
          ...(countable > 0 ? [`... [${atLeast}${countable} lines truncated] ...`] : []),
        ];
  const text = [
    `<workspace_result workspace_path="${answer.workingDirectory}">`,
    ...body,
    ...notes,
    "</workspace_result>",
  ].join("\n");
  return {
    output: {
      type: "GrepSearch",
      stdout: Buffer.from(text),
      stderr: Buffer.from(answer.stderr),
      exit_code: answer.exitCode,
      match_count: matchCount,
      file_matches: fileMatches(lines),
    },
    promptText: text,
    truncated: isTruncated || dropped.length > 0,
  };
}

function headline({ mode, lines }: GrepAnswer, matchCount: number, atLeast: string): string {
  switch (mode) {
    case "content":
      return `Found ${atLeast}${matchCount} matching lines`;
    case "files_with_matches":
      return `Found ${atLeast}${lines.length} files`;
    case "count":
      return `Found ${matchCount} across ${atLeast}${lines.length} files`;
  }
}

function withinBytes(lines: readonly ListedLine[], maxBytes: number): readonly ListedLine[] {
  let bytes = 0;
  const end = lines.findIndex(({ text }) => {
    bytes += Buffer.byteLength(text);
    return bytes > maxBytes;
  });
  return end === -1 ? lines : lines.slice(0, end);
}

type FileMatches = { path: string; matches: { line_number: number; content: string }[] };

function fileMatches(lines: readonly ListedLine[]): FileMatches[] {
  const files: FileMatches[] = [];
  for (const { match } of lines) {
    if (match === undefined) continue;
    const { path, lineNumber, content } = match;
    const last = files.at(-1);
    const file = last?.path === path ? last : { path, matches: [] };
    if (file !== last) files.push(file);
    file.matches.push({ line_number: lineNumber, content });
  }
  return files;
}
