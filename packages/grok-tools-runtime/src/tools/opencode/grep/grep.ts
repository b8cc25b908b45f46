import { resolve } from "node:path";
import { ErrorCode } from "@trivium/proto/grok-tools";
import { z } from "zod";
import { cutToBytes } from "../../../cut-bytes.ts";
import { type ModelPath, toModelPath } from "../../../files/model-path.ts";
import { absentable } from "../../../input/lenient.ts";
import type { FileLines } from "../../../search/matching-lines.ts";
import { newestFirst } from "../../../search/newest-first.ts";
import { searchContent } from "../../../search/search-content.ts";
import type { SearchEnd, SearchRoot } from "../../../search/search-query.ts";
import { defineTool, type Tool, type ToolContext, type ToolResult } from "../../../tool.ts";
import { grepFailureResult } from "../../grok-build/grep/grep-failure.ts";
import { grepOutput } from "../../grok-build/grep/grep-schemas.ts";
import { checkSearchRoot } from "../../grok-build/grep/search-root.ts";

const TIMEOUT_MS = 20_000;
const MAX_MATCHES = 10_000;
const MAX_SHOWN = 100;
const MAX_LINE_BYTES = 2000;

interface GrepInput {
  readonly pattern: string;
  readonly path?: string | undefined;
  readonly include?: string | undefined;
}

/** OpenCode:grep: regular-expression search, the files that changed last first. */
export const grep: Tool = defineTool({
  id: "OpenCode:grep",
  kind: "search",
  capabilities: { readOnly: true, cancellable: true },
  description: `Searches files for a regular expression. Matching lines come by file, the files that changed last first; at most ${MAX_SHOWN} lines are shown.

- Special characters of literal text need a backslash. Hidden files are searched too, ignored ones are not.
- Narrow a search with \`\${{ params.search.path }}\` or \`\${{ params.search.include }}\`.`,
  input: z.object({
    pattern: z.string().describe("Regular expression in the syntax of ripgrep."),
    path: absentable(z.string()).describe("File or folder to search. Default: the working directory."),
    include: absentable(z.string()).describe(
      "Only files whose path matches this glob, for example `*.{ts,tsx}`.",
    ),
  }),
  output: grepOutput,
  run: runGrep,
});

async function runGrep(input: GrepInput, context: ToolContext<undefined>): Promise<ToolResult> {
  const named = toModelPath(input.path ?? "", context);
  const checked = await checkSearchRoot(named, context);
  if (checked.kind === "failure") return grepFailureResult(checked);
  await using root = checked.root;
  const { settings, programRunner, environment, signal, clock } = context;
  const { end, files } = await searchContent({
    query: {
      pattern: input.pattern,
      root,
      glob: input.include,
      globNarrows: settings.respectGitignore === "all",
      obeysGitIgnore: settings.respectGitignore !== "off",
      includesHidden: true,
    },
    scope: { programRunner, rgPath: settings.rgPath, environment, timeoutMs: TIMEOUT_MS, signal },
    clock,
    maxListedLines: Infinity,
    maxMatches: MAX_MATCHES,
    // More than fits, so that a cut shows.
    maxLineChars: MAX_LINE_BYTES + 1,
    hasContext: false,
  });
  const problem = problemOf(end, files);
  if (problem !== undefined) return problem;
  context.touched({ access: root.isFile ? "read" : "list", path: named.path });
  return toResult(await sortFiles(files, { named, root, signal }), end);
}

/** A search without any result that is more than "nothing found". */
function problemOf(
  { isTimedOut, isInvalid, stderr }: SearchEnd,
  files: readonly FileLines[],
): ToolResult | undefined {
  if (files.length > 0) return undefined;
  if (isTimedOut) {
    const suggestion = "narrow the search with a path or a glob";
    const text = `Error: the search found nothing within ${TIMEOUT_MS / 1000} seconds and was ended; ${suggestion}.`;
    return grepFailureResult({
      text,
      exitCode: -1,
      stderr,
      failure: { code: ErrorCode.TIMEOUT, retryable: true, suggestion },
    });
  }
  if (!isInvalid) return undefined;
  return grepFailureResult({
    text: `Error: ${stderr.trim()}`,
    exitCode: 2,
    stderr,
    failure: {
      code: ErrorCode.INVALID_INPUT,
      reason: "invalid_pattern",
      suggestion: "correct the pattern or the glob",
    },
  });
}

interface FoundFile {
  /** Absolute. */
  readonly path: string;
  readonly lines: readonly { readonly number: number; readonly text: string }[];
}

async function sortFiles(
  files: readonly FileLines[],
  { named, root, signal }: { named: ModelPath; root: SearchRoot; signal: AbortSignal },
): Promise<FoundFile[]> {
  const byPath = new Map(files.map((file) => [file.path, file]));
  const paths = root.isFile
    ? [...byPath.keys()]
    : await newestFirst(root.openPath, [...byPath.keys()], signal);
  return paths.map((path) => ({
    path: root.isFile ? named.path : resolve(named.path, path),
    lines: (byPath.get(path)?.lines ?? []).map(({ number, text }) => ({ number, text: cutLine(text) })),
  }));
}

function cutLine(text: string): string {
  const cut = cutToBytes(text, MAX_LINE_BYTES);
  return cut.length === text.length ? text : `${cut}...`;
}

function toResult(files: readonly FoundFile[], end: SearchEnd): ToolResult {
  const total = files.reduce((sum, { lines }) => sum + lines.length, 0);
  const shown = firstLines(files, MAX_SHOWN);
  const isCounted = !end.isTruncated && !end.isTimedOut;
  const isCut = total > MAX_SHOWN || !isCounted;
  const text = total === 0 ? "No files found" : describe(shown, { total, isCounted, isCut, end });
  return {
    output: {
      type: "GrepSearch",
      stdout: Buffer.from(text),
      stderr: Buffer.from(end.stderr),
      exit_code: total > 0 ? 0 : end.exitCode || 1,
      match_count: total,
      file_matches: shown.map(({ path, lines }) => ({
        path,
        matches: lines.map(({ number, text: content }) => ({ line_number: number, content })),
      })),
    },
    promptText: text,
    truncated: isCut,
  };
}

interface Summary {
  readonly total: number;
  readonly isCounted: boolean;
  readonly isCut: boolean;
  readonly end: SearchEnd;
}

function describe(files: readonly FoundFile[], { total, isCounted, isCut, end }: Summary): string {
  const count = isCounted ? String(total) : `at least ${total}`;
  const blocks = files.map(({ path, lines }) =>
    [`${path}:`, ...lines.map(({ number, text }) => `  Line ${number}: ${text}`)].join("\n"),
  );
  const shownCount = Math.min(total, MAX_SHOWN);
  const notes = [
    ...(isCut
      ? [`(cut: the first ${shownCount} of ${count} matches are shown; narrow the search for the others)`]
      : []),
    ...(end.isTimedOut ? [`(the search was ended after ${TIMEOUT_MS / 1000} seconds)`] : []),
    ...(end.exitCode === 2 ? ["(some paths could not be read and were skipped)"] : []),
  ];
  const head = `Found ${count} matches${isCut ? ` (showing ${shownCount})` : ""}`;
  return [[head, blocks.join("\n\n")].join("\n"), ...notes].join("\n\n");
}

function firstLines(files: readonly FoundFile[], count: number): FoundFile[] {
  let left = count;
  return files.flatMap(({ path, lines }) => {
    const kept = lines.slice(0, left);
    left -= kept.length;
    return kept.length === 0 ? [] : [{ path, lines: kept }];
  });
}
