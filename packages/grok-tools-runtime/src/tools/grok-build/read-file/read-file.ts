import { ErrorCode } from "@trivium/proto/grok-tools";
import { accessFailureOf } from "../../../files/access-failure.ts";
import { extensionOf, imageTypeOf, isBinaryContent, PROBE_BYTES } from "../../../files/content-kind.ts";
import { fileReadTracker } from "../../../files/file-read-tracker.ts";
import { ignoreFilter } from "../../../files/ignore/ignore-filter.ts";
import { readRange } from "../../../files/line-index.ts";
import { type ModelPath, toModelPath } from "../../../files/model-path.ts";
import { type OpenFile, openFile } from "../../../files/open-file.ts";
import { missingPathText } from "../../../files/path-suggestions.ts";
import { resolveTarget } from "../../../files/resolve-target.ts";
import { readableRoots } from "../../../files/session-roots.ts";
import { defineTool, type Tool, type ToolContext, type ToolResult } from "../../../tool.ts";
import { cursorRulesFor, shownCursorRules } from "./cursor-rules.ts";
import { contentFailure, type ReadFailure, readFailureResult } from "./read-failure.ts";
import { type ReadFileInput, readFileInput, readFileParams, wantsCursorRules } from "./read-file-input.ts";
import { readFileOutput } from "./read-file-output.ts";
import { readImage } from "./read-image.ts";
import { readPdf } from "./read-pdf.ts";
import { readPptx } from "./read-pptx.ts";
import { numberedText, readTextContent, type TextStyle } from "./read-text-content.ts";

/** GrokBuild:read_file: lines of a text file, a picture, or pages of a document. */
export const readFile: Tool = defineTool({
  id: "GrokBuild:read_file",
  kind: "read",
  capabilities: { readOnly: true },
  behaviorVersions: [
    { version: "current", lifecycle: "active" },
    { version: "legacy-0.4.10", lifecycle: "active" },
  ],
  description: `Reads a file.

- Text comes with line numbers: \`N→\` stands before the first line shown and before every tenth line; the other lines carry no number. The anchors are not part of the file.
- At most {max_lines_read} lines are returned; use \`\${{ params.read.offset }}\` and \`\${{ params.read.limit }}\` for the rest of a long file.
- Pictures (PNG, JPEG, WebP, GIF) are shown; the text of PPTX slides is extracted.
- Pages of PDF documents are shown as pictures, or as text with \`\${{ params.read.format }}\` \`text\`; documents of more than 10 pages need \`\${{ params.read.pages }}\`, at most 20 in one call.`,
  input: readFileInput,
  params: readFileParams,
  output: readFileOutput,
  resources: [fileReadTracker, shownCursorRules],
  truncation: { builtInMaxOutput: Number.POSITIVE_INFINITY },
  run: runReadFile,
});

/** Reads a file. Shared with the siblings of the other namespaces. */
export async function runReadFile(
  input: ReadFileInput,
  context: ToolContext<unknown>,
  style: TextStyle = numberedText,
): Promise<ToolResult> {
  const named = toModelPath(input.target_file, context);
  const path = await resolveTarget(named.path);
  const outcome = await readTarget(input, { named, path, style }, context).catch((thrown: unknown) =>
    toReadFailure(thrown, named, context),
  );
  const isLegacy = context.behaviorVersion === "legacy-0.4.10";
  if ("kind" in outcome) return readFailureResult(outcome, path, isLegacy);
  context.touched({ access: "read", path });
  if (!wantsCursorRules(context.params) || outcome.output["FileContent"] === undefined) return outcome;
  return { ...outcome, promptText: outcome.promptText + (await cursorRulesFor(path, context)) };
}

interface Target {
  readonly named: ModelPath;
  /** Real path. */
  readonly path: string;
  readonly style: TextStyle;
}

async function readTarget(
  input: ReadFileInput,
  { named, path, style }: Target,
  context: ToolContext<unknown>,
): Promise<ToolResult | ReadFailure> {
  const isLegacy = context.behaviorVersion === "legacy-0.4.10";
  if (context.settings.respectGitignore === "all" && !isLegacy) {
    if (await context.resource(ignoreFilter).isIgnored(path)) return ignored(named);
  }
  await using file = await openFile(path, readableRoots(context));
  const probe = await readRange(file, 0, Math.min(PROBE_BYTES, file.sizeBytes));
  const extension = extensionOf(path);
  const mimeType = imageTypeOf(probe);
  if (mimeType !== undefined)
    return await readImage({ file, display: named.display, mimeType, signal: context.signal });
  if (extension === "pdf" || probe.subarray(0, 5).toString("latin1") === "%PDF-") {
    const { pages, format } = input;
    return await readPdf({ file, path, display: named.display, pages, format }, context);
  }
  if (extension === "pptx")
    return await readPptx({ file, path, display: named.display, signal: context.signal });
  if (isBinaryContent(extension, probe)) {
    return contentFailure(`Error: ${named.display} is a binary file and cannot be shown as text.`, "binary");
  }
  return await readLines(input, { file, path, style }, context);
}

async function readLines(
  { offset, limit }: ReadFileInput,
  { file, path, style }: { file: OpenFile; path: string; style: TextStyle },
  context: ToolContext<unknown>,
): Promise<ToolResult | ReadFailure> {
  const read = await readTextContent({ path, file, offset, limit }, context, style);
  if (read.kind === "failure") return read;
  const { sha256, range } = read;
  context.resource(fileReadTracker).record({ path, stats: file.stats, sha256, range });
  return read.result;
}

function ignored({ display }: ModelPath): ReadFailure {
  return {
    kind: "failure",
    variant: "FileReadError",
    code: ErrorCode.PERMISSION_DENIED,
    reason: "ignored",
    text: `Error: ${display} is ignored by .gitignore, and ignored files are off limits here.`,
  };
}

async function toReadFailure(
  thrown: unknown,
  named: ModelPath,
  context: ToolContext<unknown>,
): Promise<ReadFailure> {
  const failure = { kind: "failure" as const, ...accessFailureOf(thrown, context.signal) };
  const { display } = named;
  if (failure.code === ErrorCode.PERMISSION_DENIED) {
    const why =
      failure.reason === "outside_roots" ? "it is outside the allowed folders" : "permission denied";
    return { ...failure, variant: "PermissionDenied", text: `Error: ${display} cannot be read: ${why}.` };
  }
  if (failure.reason === "is_a_directory") {
    const list = context.toolName("list");
    return {
      ...failure,
      variant: "IsADirectory",
      text: `Error: ${display} is a directory, not a file.`,
      suggestion: list === undefined ? undefined : `list it with ${list}`,
    };
  }
  if (failure.code === ErrorCode.FILE_NOT_FOUND && failure.reason === undefined) {
    const scope = { ...context, roots: readableRoots(context), hints: context.settings.pathHints };
    return { ...failure, variant: "FileNotFound", text: await missingPathText(named, scope) };
  }
  const why = thrown instanceof Error ? thrown.message : "unknown cause";
  return { ...failure, variant: "FileReadError", text: `Error: ${display} cannot be read: ${why}` };
}
