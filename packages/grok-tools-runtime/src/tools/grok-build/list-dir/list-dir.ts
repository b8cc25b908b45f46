import { stat } from "node:fs/promises";
import { sep } from "node:path";
import { ErrorCode } from "@trivium/proto/grok-tools";
import { accessFailureOf } from "../../../files/access-failure.ts";
import { type FolderTree, readFolderTree } from "../../../files/folder-tree.ts";
import { ignoreFilter } from "../../../files/ignore/ignore-filter.ts";
import { type ModelPath, toModelPath } from "../../../files/model-path.ts";
import { assertPathInsideRoots, type Roots } from "../../../files/path-jail.ts";
import { missingPathText } from "../../../files/path-suggestions.ts";
import { readableRoots } from "../../../files/session-roots.ts";
import { defineTool, type Tool, type ToolContext, type ToolResult } from "../../../tool.ts";
import {
  type ListDirInput,
  type ListDirParams,
  listDirInput,
  listDirOutput,
  listDirParams,
} from "./list-dir-schemas.ts";
import { renderLegacyTree } from "./render-legacy-tree.ts";
import { renderTree } from "./render-tree.ts";

const DEFAULT_MAX_CHARS = 10_000;
const LEGACY_MAX_BYTES = 40_000;
/** Entries read below the first level, and at most so many in the first. */
const MAX_ENTRIES = 100_000;

/** GrokBuild:list_dir: a folder as a tree, opened as far as the budget allows. */
export const listDir: Tool = defineTool({
  id: "GrokBuild:list_dir",
  kind: "list",
  capabilities: { readOnly: true },
  behaviorVersions: [
    { version: "current", lifecycle: "active" },
    { version: "legacy-0.4.10", lifecycle: "active" },
  ],
  description: `Lists the files and folders of a folder as a tree.

- Small folders are shown with their content, large ones with a summary of the kinds of files below them.
- Hidden files, and files that ignore rules exclude, are left out.`,
  input: listDirInput,
  params: listDirParams,
  output: listDirOutput,
  truncation: {
    builtInMaxOutput: DEFAULT_MAX_CHARS,
    unit: "characters",
    fromParams: (params: ListDirParams) => params.max_output_chars,
  },
  run: runListDir,
});

type ListContext = ToolContext<ListDirParams>;

interface ListFailure {
  readonly variant: "NotFound" | "IsAFile" | "NotADirectory" | "PermissionDenied" | "Error";
  readonly code: ErrorCode;
  readonly text: string;
  readonly reason?: string | undefined;
}

async function runListDir({ target_directory }: ListDirInput, context: ListContext): Promise<ToolResult> {
  const named = toModelPath(target_directory, context);
  try {
    const problem = await problemWith(named, readableRoots(context));
    if (problem !== undefined) return failureResult(problem, named, context);
    const tree = await readTree(named.path, context);
    context.touched({ access: "list", path: named.path });
    return listing(tree, named.path, context);
  } catch (thrown) {
    return failureResult(await toListFailure(thrown, named, context), named, context);
  }
}

/** What keeps the path from being listed, as far as it can be told before its folders are opened and checked. */
async function problemWith({ path, display }: ModelPath, roots: Roots): Promise<ListFailure | undefined> {
  await assertPathInsideRoots(path, roots);
  const stats = await stat(path);
  const code = ErrorCode.FILE_NOT_FOUND;
  if (stats.isFile()) {
    return {
      variant: "IsAFile",
      code,
      reason: "is_a_file",
      text: `Error: ${display} is a file, not a directory.`,
    };
  }
  if (!stats.isDirectory()) {
    return {
      variant: "NotADirectory",
      code,
      reason: "not_a_directory",
      text: `Error: ${display} is not a directory.`,
    };
  }
  return undefined;
}

async function readTree(path: string, context: ListContext): Promise<FolderTree> {
  return await readFolderTree({
    path,
    roots: readableRoots(context),
    ignoreFiles: context.resource(ignoreFilter).files,
    sources: { git: context.settings.respectGitignore !== "off", dotIgnore: true },
    maxEntries: MAX_ENTRIES,
    signal: context.signal,
  });
}

function listing({ root, isCapped }: FolderTree, path: string, context: ListContext): ToolResult {
  const isLegacy = context.behaviorVersion === "legacy-0.4.10";
  const { lines, isCut } = isLegacy
    ? renderLegacyTree(root, legacyBudget(context))
    : renderTree(root, context.limits.maxOutput);
  const notes = [
    ...(isCut && !isLegacy ? [cutNote(context)] : []),
    ...(isCapped ? [`[there are more than ${MAX_ENTRIES} items; the rest was not looked at]`] : []),
  ];
  const header = `- ${path.endsWith(sep) ? path : path + sep}`;
  const body = [...lines, ...notes];
  const content = body.length === 0 ? `${header}\n` : [header, ...body].join("\n").trimEnd();
  return {
    output: { type: "ListDir", Content: { content, absolute_root_path: path } },
    promptText: content,
    truncated: isCut || isCapped,
  };
}

function legacyBudget({ limits, params }: ListContext): number {
  return limits.maxOutputConfigured ? limits.maxOutput : (params.max_output_chars ?? LEGACY_MAX_BYTES);
}

function cutNote(context: ListContext): string {
  const list = context.toolName("list") ?? "this tool";
  const others = [context.toolName("search"), context.toolName("execute")].filter(
    (name) => name !== undefined,
  );
  const otherwise = others.length === 0 ? "" : `, or use ${others.join(" or ")}`;
  return `[the folder has more entries than fit into ${context.limits.maxOutput} characters: list one of its folders with ${list}${otherwise}]`;
}

async function toListFailure(thrown: unknown, named: ModelPath, context: ListContext): Promise<ListFailure> {
  const failure = accessFailureOf(thrown, context.signal);
  const { display } = named;
  if (failure.code === ErrorCode.PERMISSION_DENIED) {
    const why =
      failure.reason === "outside_roots" ? "it is outside the allowed folders" : "permission denied";
    return { ...failure, variant: "PermissionDenied", text: `Error: ${display} cannot be listed: ${why}.` };
  }
  if (failure.reason === "not_a_directory") {
    return { ...failure, variant: "NotADirectory", text: `Error: ${display} is not a directory.` };
  }
  if (failure.code === ErrorCode.FILE_NOT_FOUND) {
    const scope = { ...context, roots: readableRoots(context), hints: context.settings.pathHints };
    return { ...failure, variant: "NotFound", text: await missingPathText(named, scope) };
  }
  const why = thrown instanceof Error ? thrown.message : "unknown cause";
  return { ...failure, variant: "Error", text: `Error: ${display} cannot be listed: ${why}` };
}

/** The legacy version knows one variant and one text; the code stays the cause's. */
function failureResult(failure: ListFailure, { path }: ModelPath, context: ListContext): ToolResult {
  const isLegacy = context.behaviorVersion === "legacy-0.4.10";
  const text = isLegacy ? `Error: ${path} is not a valid directory` : failure.text;
  return {
    output: { type: "ListDir", [isLegacy ? "Error" : failure.variant]: text },
    promptText: text,
    failure: { code: failure.code, reason: failure.reason, filePath: path },
  };
}
