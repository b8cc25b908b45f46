import { relative, resolve } from "node:path";
import { TriviumError } from "@trivium/core";
import { ErrorCode } from "@trivium/proto/grok-tools";
import { type ModelPath, toModelPath } from "../../../files/model-path.ts";
import { isJsonObject } from "../../../json.ts";
import type { FileLines, FoundLine } from "../../../search/matching-lines.ts";
import { searchContent } from "../../../search/search-content.ts";
import { searchPaths } from "../../../search/search-paths.ts";
import type { SearchEnd, SearchQuery, SearchRoot, SearchScope } from "../../../search/search-query.ts";
import { defineTool, type Tool, type ToolContext, type ToolResult } from "../../../tool.ts";
import { ToolError } from "../../../tool-error.ts";
import { grepAnswer } from "./grep-answer.ts";
import { grepFailureResult } from "./grep-failure.ts";
import { type GrepInput, type GrepParams, grepInput, grepOutput, grepParams } from "./grep-schemas.ts";
import { type ListedLine, type ListingStyle, listContent, listPaths } from "./listing.ts";
import { checkSearchRoot } from "./search-root.ts";

const DEFAULT_MAX_OUTPUT_BYTES = 40_000;
const DEFAULT_MAX_LINE_CHARS = 1000;
const TIMEOUT_MS = 20_000;
/** Default and highest number of output lines. */
const headLimits = {
  content: { usual: 200, highest: 2000 },
  files_with_matches: { usual: 500, highest: 10_000 },
  count: { usual: 500, highest: 10_000 },
} as const;
const MAX_NOTED_COMPLAINTS = 3;

/** GrokBuild:grep: regular-expression search with ripgrep. */
export const grep: Tool = defineTool({
  id: "GrokBuild:grep",
  kind: "search",
  capabilities: { readOnly: true, cancellable: true },
  behaviorVersions: [{ version: "current", lifecycle: "active" }],
  description: `Searches files with ripgrep for a regular expression.

- Special characters of literal text need a backslash, for example \`interface\\{\\}\`. Look-around works too.
- Hidden and ignored files are left out, unless \`\${{ params.search.path }}\` names them or \`\${{ params.search.glob }}\` matches them; a server can put ignored files off limits altogether.
- Results are sorted by path and limited; narrow the search with \`\${{ params.search.path }}\`, \`\${{ params.search.glob }}\` or \`\${{ params.search.type }}\`.`,
  input: grepInput,
  params: grepParams,
  output: grepOutput,
  truncation: {
    builtInMaxOutput: DEFAULT_MAX_OUTPUT_BYTES,
    fromParams: (params: GrepParams) => params.max_output_bytes,
  },
  // Accepted for callers that know it, but models do without it.
  specialiseInput: (schema) => {
    const { properties } = schema;
    if (!isJsonObject(properties)) return schema;
    const { output_mode: _hidden, ...advertised } = properties;
    return { ...schema, properties: advertised };
  },
  run: runGrep,
});

type GrepContext = ToolContext<GrepParams>;

/** Names lines of found files in another way than by their number. */
export type NameLines = (files: readonly FileLines[], root: SearchRoot) => Promise<LineNames>;

/** Names of found lines, and what is to be said about them. */
export interface LineNames {
  /** Undefined: the number is the name. */
  readonly nameOf: (path: string, line: FoundLine) => string | undefined;
  readonly notes: readonly string[];
}

/** Searches. Shared with the sibling that names lines by anchors. */
export async function runGrep(
  input: GrepInput,
  context: GrepContext,
  nameLines?: NameLines,
): Promise<ToolResult> {
  const named = toModelPath(input.path ?? "", context);
  const checked = await checkSearchRoot(named, context);
  if (checked.kind === "failure") return grepFailureResult(checked);
  await using root = checked.root;
  try {
    const found = await search({ input, root, nameLines }, context);
    const result = toResult({ input, named, root, found }, context);
    const isSearched = result.failure === undefined;
    if (isSearched) context.touched({ access: root.isFile ? "read" : "list", path: named.path });
    return result;
  } catch (thrown) {
    return toFailedStart(thrown, context);
  }
}

interface Found {
  readonly end: SearchEnd;
  readonly notes: readonly string[];
  list(style: ListingStyle): ListedLine[];
}

interface Search {
  readonly input: GrepInput;
  readonly root: SearchRoot;
  readonly nameLines: NameLines | undefined;
}

async function search({ input, root, nameLines }: Search, context: GrepContext): Promise<Found> {
  const query = queryOf(input, root, context);
  const scope: SearchScope = {
    programRunner: context.programRunner,
    rgPath: context.settings.rgPath,
    environment: context.environment,
    timeoutMs: TIMEOUT_MS,
    signal: context.signal,
  };
  const { clock } = context;
  if (input.output_mode !== "content") {
    const counts = input.output_mode === "count";
    const { end, paths } = await searchPaths({ query, scope, clock, counts, maxPaths: headLimitOf(input) });
    return { end, notes: [], list: (style) => listPaths(paths, counts, style) };
  }
  const hasContext = (query.linesBefore ?? 0) > 0 || (query.linesAfter ?? 0) > 0;
  const { end, files, skippedCount } = await searchContent({
    query,
    scope,
    clock,
    maxListedLines: headLimitOf(input),
    maxMatches: input.match_limit ?? Infinity,
    maxLineChars: maxLineCharsOf(context),
    hasContext,
  });
  const names = await nameLines?.(files, root);
  const binary = files.filter(({ isBinary }) => isBinary);
  return {
    end,
    notes: [
      ...(skippedCount > 0 ? [`[${skippedCount} matching lines of more than 1 MiB are left out]`] : []),
      ...(names?.notes ?? []),
      ...(binary.length > 0 ? ["[a file with NUL bytes was searched up to the first one]"] : []),
    ],
    list: (style) => listContent(files, hasContext, { ...style, lineName: names?.nameOf }),
  };
}

function queryOf(input: GrepInput, root: SearchRoot, context: GrepContext): SearchQuery {
  const around = input["-C"] ?? 0;
  return {
    pattern: input.pattern,
    root,
    glob: input.glob,
    // Where ignored files are off limits a glob must not bring them back.
    globNarrows: context.settings.respectGitignore === "all",
    fileType: input.type,
    ignoreCase: input["-i"],
    multiline: input.multiline,
    // 0 counts as not given.
    linesBefore: (input["-B"] ?? 0) > 0 ? input["-B"] : around,
    linesAfter: (input["-A"] ?? 0) > 0 ? input["-A"] : around,
    obeysGitIgnore: context.settings.respectGitignore !== "off",
  };
}

function headLimitOf({ output_mode: mode, head_limit: limit }: GrepInput): number {
  const { usual, highest } = headLimits[mode];
  return Math.min(limit ?? usual, highest);
}

function maxLineCharsOf({ params }: GrepContext): number {
  return params.max_chars_per_line ?? DEFAULT_MAX_LINE_CHARS;
}

interface Finding {
  readonly input: GrepInput;
  readonly named: ModelPath;
  readonly root: SearchRoot;
  readonly found: Found;
}

function toResult({ input, named, root, found }: Finding, context: GrepContext): ToolResult {
  const { end, notes } = found;
  const all = found.list({
    maxLineChars: maxLineCharsOf(context),
    displayPath: (path) => displayPath(root.isFile ? named.path : resolve(named.path, path), context),
  });
  if (all.length === 0 && !isMerelyEmpty(end)) return failedSearch(end, context);
  const lines = withinLimits(all, input);
  return grepAnswer({
    mode: input.output_mode,
    workingDirectory: context.workingDirectory,
    lines,
    isTruncated: end.isTruncated || end.isTimedOut || lines.length < all.length,
    maxOutputBytes: context.limits.maxOutput,
    notes: [...notes, ...notesOn(end)],
    exitCode: all.length > 0 ? 0 : end.exitCode || 1,
    stderr: end.stderr,
  });
}

function displayPath(path: string, { params, workingDirectory }: GrepContext): string {
  return params.relative_paths ? relative(workingDirectory, path) || "." : path;
}

/** Nothing found is no failure; a filter that selects no file may end with 2. */
function isMerelyEmpty({ exitCode, stderr }: SearchEnd): boolean {
  return exitCode === 0 || exitCode === 1 || stderr.includes("No files were searched");
}

/** The first lines, and of those only up to the last match that is wanted. */
function withinLimits(lines: readonly ListedLine[], input: GrepInput): readonly ListedLine[] {
  const head = lines.slice(0, headLimitOf(input));
  const { match_limit: limit } = input;
  if (limit === undefined || input.output_mode !== "content") return head;
  let left = limit;
  const end = head.findIndex(({ matchCount }) => matchCount > 0 && (left -= 1) < 0);
  return end === -1 ? head : head.slice(0, end);
}

function notesOn({ stderr, exitCode, isTimedOut, engine }: SearchEnd): string[] {
  const complaints = exitCode === 2 ? stderr.split("\n").filter((line) => line !== "") : [];
  const more = complaints.length - MAX_NOTED_COMPLAINTS;
  return [
    ...complaints
      .slice(0, MAX_NOTED_COMPLAINTS)
      .map((line) => `[not searched: ${line.replace(/^rg: /, "")}]`),
    ...(more > 0 ? [`[${more} more places were not searched]`] : []),
    ...(isTimedOut ? [`[the search was ended after ${TIMEOUT_MS / 1000} seconds]`] : []),
    ...(engine === "pcre2" ? ["[searched with the PCRE2 engine, which this pattern needs]"] : []),
    ...(engine === "built-in"
      ? ["[ripgrep is missing: searched with the built-in engine, JavaScript patterns]"]
      : []),
  ];
}

function failedSearch(
  { exitCode, stderr, isInvalid, isTimedOut }: SearchEnd,
  context: GrepContext,
): ToolResult {
  if (isTimedOut) {
    const suggestion = "narrow the search with a path, a glob or a file type";
    const text = `Error: the search found nothing within ${TIMEOUT_MS / 1000} seconds and was ended; ${suggestion}.`;
    return grepFailureResult({
      text,
      exitCode: -1,
      stderr,
      failure: { code: ErrorCode.TIMEOUT, retryable: true, suggestion },
    });
  }
  return grepFailureResult({
    text: `Error calling tool: ${stderr.trim()} (exit ${exitCode}, root: ${context.workingDirectory})`,
    exitCode,
    stderr,
    failure: isInvalid
      ? {
          code: ErrorCode.INVALID_INPUT,
          reason: "invalid_pattern",
          suggestion: "correct the pattern, the glob or the file type",
        }
      : { code: ErrorCode.EXECUTION_FAILED },
  });
}

/** Ripgrep could not be started, or its helper process went away. */
function toFailedStart(thrown: unknown, { signal }: GrepContext): ToolResult {
  if (signal.aborted || !TriviumError.isInstance(thrown)) throw thrown;
  if (thrown.kind === "invalidInput")
    throw new ToolError(ErrorCode.INVALID_INPUT, thrown.message, { cause: thrown });
  const text = `Error: the search could not be started: ${thrown.message}`;
  return grepFailureResult({
    text,
    exitCode: -1,
    stderr: text,
    hasOutput: false,
    failure: { code: ErrorCode.EXECUTION_FAILED, retryable: thrown.kind === "unavailable" },
  });
}
