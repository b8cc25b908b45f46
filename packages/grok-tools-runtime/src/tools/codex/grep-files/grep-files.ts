import { resolve } from "node:path";
import { TriviumError } from "@trivium/core";
import { ErrorCode } from "@trivium/proto/grok-tools";
import { trim } from "../../../files/white-space.ts";
import { newestFirst } from "../../../search/newest-first.ts";
import { searchPaths } from "../../../search/search-paths.ts";
import type { SearchEnd, SearchRoot } from "../../../search/search-query.ts";
import {
  defineTool,
  type LogicalFailure,
  type Tool,
  type ToolContext,
  type ToolResult,
} from "../../../tool.ts";
import { checkSearchRoot } from "../../grok-build/grep/search-root.ts";
import { type GrepFilesInput, grepFilesInput, grepFilesOutput } from "./grep-files-schemas.ts";

const MAX_PATHS = 2000;
/** Files whose age is compared; of more, those first by path. */
const MAX_COMPARED_FILES = 20_000;
const TIMEOUT_MS = 30_000;
const MAX_OUTPUT_BYTES = 400_000;

/** Codex:grep_files: paths of the files in which a regular expression matches. */
export const codexGrepFiles: Tool = defineTool({
  id: "Codex:grep_files",
  kind: "search",
  capabilities: { readOnly: true, cancellable: true },
  description: `Finds the files in which a regular expression matches and returns their paths, those changed last first.

- Hidden and ignored files are left out.
- Narrow the search with \`\${{ params.search.path }}\` or \`\${{ params.search.include }}\`; \`\${{ params.search.limit }}\` paths are returned at most.`,
  input: grepFilesInput,
  output: grepFilesOutput,
  truncation: { builtInMaxOutput: MAX_OUTPUT_BYTES },
  run: runGrepFiles,
});

type GrepContext = ToolContext<undefined>;

async function runGrepFiles(input: GrepFilesInput, context: GrepContext): Promise<ToolResult> {
  const pattern = trim(input.pattern);
  const name = context.parameterName;
  if (pattern === "") return invalid(`\`${name("pattern")}\` must not be empty`);
  if (input.limit === 0) return invalid(`\`${name("limit")}\` must be 1 or more`);
  const path = resolve(context.workingDirectory, trim(input.path ?? ""));
  const checked = await checkSearchRoot({ path, argument: path, display: path }, context);
  if (checked.kind === "failure") return failed(checked.text, checked.failure);
  await using root = checked.root;
  try {
    const result = await search({ ...input, pattern, path }, root, context);
    if (result.failure === undefined) {
      context.touched({ access: root.isFile ? "read" : "list", path });
    }
    return result;
  } catch (thrown) {
    return toFailedStart(thrown, context);
  }
}

async function search(
  { pattern, include, path, limit }: GrepFilesInput & { readonly path: string },
  root: SearchRoot,
  context: GrepContext,
): Promise<ToolResult> {
  const { settings, programRunner, environment, signal, clock } = context;
  const { end, paths } = await searchPaths({
    query: {
      pattern,
      root,
      glob: trim(include ?? ""),
      // Where ignored files are off limits a glob must not bring them back.
      globNarrows: settings.respectGitignore === "all",
      obeysGitIgnore: settings.respectGitignore !== "off",
    },
    scope: { programRunner, rgPath: settings.rgPath, environment, timeoutMs: TIMEOUT_MS, signal },
    clock,
    counts: false,
    maxPaths: MAX_COMPARED_FILES,
  });
  if (paths.length === 0) return isMerelyEmpty(end) ? noMatches(pattern, path) : failedSearch(end);
  if (root.isFile) return matches([path], { isIncomplete: false }, context);
  const names = await newestFirst(
    root.openPath,
    paths.map((found) => found.path),
    signal,
  );
  const shown = names.slice(0, Math.min(limit, MAX_PATHS)).map((found) => resolve(path, found));
  const isIncomplete = end.isTruncated || end.isTimedOut || shown.length < names.length;
  return matches(shown, { isIncomplete }, context);
}

function matches(
  paths: readonly string[],
  { isIncomplete }: { readonly isIncomplete: boolean },
  { limits }: GrepContext,
): ToolResult {
  let leftBytes = limits.maxOutput;
  const end = paths.findIndex((path) => (leftBytes -= Buffer.byteLength(path) + 1) < -1);
  const shown = end === -1 ? paths : paths.slice(0, Math.max(1, end));
  const content = shown.join("\n");
  const isTruncated = isIncomplete || shown.length < paths.length;
  return {
    output: {
      type: "CodexGrepFiles",
      Matches: { content, file_count: shown.length, ...(isTruncated && { truncated: true }) },
    },
    promptText: content,
    truncated: isTruncated,
  };
}

function noMatches(pattern: string, path: string): ToolResult {
  const text = `No matches for ${JSON.stringify(pattern)} in ${path}.`;
  return { output: { type: "CodexGrepFiles", NoMatches: text }, promptText: text };
}

/** Nothing found is no failure; a filter that selects no file may end with 2. */
function isMerelyEmpty({ exitCode, stderr }: SearchEnd): boolean {
  return exitCode === 0 || exitCode === 1 || stderr.includes("No files were searched");
}

function failedSearch({ exitCode, stderr, isInvalid, isTimedOut }: SearchEnd): ToolResult {
  if (isTimedOut) {
    const suggestion = "narrow the search with a path or a glob";
    const text = `Error: the search found nothing within ${TIMEOUT_MS / 1000} seconds and was ended; ${suggestion}`;
    return failed(text, { code: ErrorCode.TIMEOUT, retryable: true, suggestion });
  }
  const text = `Error: the search failed: ${stderr.trim() || `exit code ${exitCode}`}`;
  if (!isInvalid) return failed(text, { code: ErrorCode.EXECUTION_FAILED });
  const suggestion = "correct the pattern or the glob";
  return failed(text, { code: ErrorCode.INVALID_INPUT, reason: "invalid_pattern", suggestion });
}

/** Ripgrep could not be started, or its helper process went away. */
function toFailedStart(thrown: unknown, { signal }: GrepContext): ToolResult {
  if (signal.aborted || !TriviumError.isInstance(thrown)) throw thrown;
  const isInvalid = thrown.kind === "invalidInput";
  return failed(`Error: the search could not be started: ${thrown.message}`, {
    code: isInvalid ? ErrorCode.INVALID_INPUT : ErrorCode.EXECUTION_FAILED,
    retryable: thrown.kind === "unavailable",
  });
}

function invalid(text: string): ToolResult {
  return failed(`Error: ${text}`, { code: ErrorCode.INVALID_INPUT });
}

function failed(text: string, failure: LogicalFailure): ToolResult {
  return { output: { type: "CodexGrepFiles", Error: text }, promptText: text, failure };
}
