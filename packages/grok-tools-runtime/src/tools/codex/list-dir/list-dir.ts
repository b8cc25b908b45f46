import { stat } from "node:fs/promises";
import { isAbsolute, resolve } from "node:path";
import { ErrorCode } from "@trivium/proto/grok-tools";
import { accessFailureOf } from "../../../files/access-failure.ts";
import { FolderRules } from "../../../files/ignore/folder-rules.ts";
import { ignoreFilter } from "../../../files/ignore/ignore-filter.ts";
import { assertPathInsideRoots } from "../../../files/path-jail.ts";
import { missingPathText } from "../../../files/path-suggestions.ts";
import { readableRoots } from "../../../files/session-roots.ts";
import {
  defineTool,
  type LogicalFailure,
  type Tool,
  type ToolContext,
  type ToolResult,
} from "../../../tool.ts";
import { collectEntries, type FolderEntry } from "./collect-entries.ts";
import {
  type ListDirInput,
  type ListDirParams,
  listDirInput,
  listDirOutput,
  listDirParams,
} from "./list-dir-schemas.ts";
import { renderEntry, sortEntries } from "./render-entries.ts";

const MAX_ENTRIES = 100_000;
const MAX_OUTPUT_BYTES = 400_000;

/** Codex:list_dir: entries of a folder and of those below it, page by page. */
export const codexListDir: Tool = defineTool({
  id: "Codex:list_dir",
  kind: "list_dir",
  capabilities: { readOnly: true },
  description: `Lists the entries of a folder and of the folders below it, hidden ones included.

- \`\${{ params.list_dir.dir_path }}\` must be absolute.
- Entries are indented by their level. Behind a name, \`/\` means folder, \`/!\` a folder that cannot be read, \`@\` a symbolic link and \`?\` something else that is no file.
- Of long listings \`\${{ params.list_dir.limit }}\` entries from \`\${{ params.list_dir.offset }}\` on are shown.`,
  input: listDirInput,
  params: listDirParams,
  output: listDirOutput,
  truncation: { builtInMaxOutput: MAX_OUTPUT_BYTES },
  run: runListDir,
});

type ListContext = ToolContext<ListDirParams>;

async function runListDir(input: ListDirInput, context: ListContext): Promise<ToolResult> {
  for (const name of ["offset", "limit", "depth"] as const) {
    if (input[name] === 0) return invalid(`\`${context.parameterName(name)}\` must be 1 or more`);
  }
  if (!isAbsolute(input.dir_path)) {
    const name = context.parameterName("dir_path");
    return invalid(`\`${name}\` must be an absolute path, not ${input.dir_path}`);
  }
  const path = resolve(input.dir_path);
  try {
    return await list(input, path, context);
  } catch (thrown) {
    return await accessFailure(thrown, path, context);
  }
}

async function list(
  { offset, limit, depth }: ListDirInput,
  path: string,
  context: ListContext,
): Promise<ToolResult> {
  const roots = readableRoots(context);
  await assertPathInsideRoots(path, roots);
  const hidesIgnored = context.settings.respectGitignore === "all";
  const filter = context.resource(ignoreFilter);
  if (hidesIgnored && (await filter.isIgnored(path))) return ignored(path);
  const rules = hidesIgnored
    ? await FolderRules.of(path, filter.files, { git: true, dotIgnore: false })
    : undefined;
  const { signal } = context;
  const collected = await collectEntries({ path, roots, depth, maxEntries: MAX_ENTRIES, rules, signal });
  const entries = sortEntries(collected.entries, context.params.sort);
  if (entries.length > 0 && offset > entries.length) {
    const name = context.parameterName("offset");
    return invalid(`\`${name}\` ${offset} is past the end: ${path} has ${entries.length} entries`, path);
  }
  context.touched({ access: "list", path });
  const page = entries.slice(offset - 1, offset - 1 + limit);
  const lines = shownLines(path, page, context.limits.maxOutput);
  const hasMore = collected.isCapped || offset - 1 + lines.length < entries.length;
  return listing(path, lines, { hasMore, isCut: collected.isCapped || lines.length < page.length });
}

/** The lines of a page that fit. */
function shownLines(path: string, page: readonly FolderEntry[], maxBytes: number): string[] {
  let leftBytes = maxBytes - Buffer.byteLength(path);
  const lines = page.map(renderEntry);
  const end = lines.findIndex((line) => (leftBytes -= Buffer.byteLength(line) + 1) < 0);
  return end === -1 ? lines : lines.slice(0, Math.max(1, end));
}

function listing(
  path: string,
  lines: readonly string[],
  { hasMore, isCut }: { readonly hasMore: boolean; readonly isCut: boolean },
): ToolResult {
  const content = [
    `Absolute path: ${path}`,
    ...lines,
    ...(hasMore && lines.length > 0 ? [`More than ${lines.length} entries found`] : []),
  ].join("\n");
  return {
    output: { type: "ListDir", Content: { content, absolute_root_path: path } },
    promptText: content,
    truncated: isCut,
  };
}

function failed(text: string, failure: LogicalFailure): ToolResult {
  return { output: { type: "ListDir", Error: text }, promptText: text, failure };
}

function invalid(text: string, filePath?: string): ToolResult {
  return failed(`Error: ${text}`, { code: ErrorCode.INVALID_INPUT, filePath });
}

function ignored(path: string): ToolResult {
  return failed(`Error: ${path} is ignored by .gitignore, and ignored files are off limits here.`, {
    code: ErrorCode.PERMISSION_DENIED,
    reason: "ignored",
    filePath: path,
  });
}

async function accessFailure(thrown: unknown, path: string, context: ListContext): Promise<ToolResult> {
  const { code, reason } = accessFailureOf(thrown, context.signal);
  const failure = { code, reason, filePath: path };
  const cannot = `Error: the directory ${path} cannot be listed:`;
  if (reason === "outside_roots") return failed(`${cannot} it is outside the allowed folders.`, failure);
  if (code === ErrorCode.PERMISSION_DENIED) return failed(`${cannot} permission denied.`, failure);
  if (reason === "not_a_directory") {
    const isFile = (await stat(path).catch(() => undefined))?.isFile() === true;
    return isFile
      ? failed(`Error: ${path} is a file, not a directory.`, { ...failure, reason: "is_a_file" })
      : failed(`Error: ${path} is not a directory.`, failure);
  }
  if (code === ErrorCode.FILE_NOT_FOUND) {
    const scope = { ...context, roots: readableRoots(context), hints: context.settings.pathHints };
    const missing = await missingPathText({ path, argument: path, display: path }, scope);
    return failed(missing.replace(/^Error: /, "Error: the directory "), failure);
  }
  return failed(`${cannot} ${thrown instanceof Error ? thrown.message : "unknown cause"}`, failure);
}
