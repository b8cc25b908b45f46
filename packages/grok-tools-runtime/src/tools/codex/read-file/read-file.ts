import { isAbsolute, resolve } from "node:path";
import { ErrorCode } from "@trivium/proto/grok-tools";
import { extensionOf, isBinaryContent, PROBE_BYTES } from "../../../files/content-kind.ts";
import { fileReadTracker } from "../../../files/file-read-tracker.ts";
import { ignoreFilter } from "../../../files/ignore/ignore-filter.ts";
import { readRange } from "../../../files/line-index.ts";
import { lineIndexCache } from "../../../files/line-index-cache.ts";
import { type OpenFile, openFile } from "../../../files/open-file.ts";
import { type ReadText, readText } from "../../../files/read-text.ts";
import { resolveLinks } from "../../../files/resolve-target.ts";
import { readableRoots } from "../../../files/session-roots.ts";
import { defineTool, type Tool, type ToolContext, type ToolResult } from "../../../tool.ts";
import { indentationBlock } from "./indentation-block.ts";
import { accessFailure, invalidRead, readFailure } from "./read-failure.ts";
import { DEFAULT_LIMIT, type ReadFileInput, readFileInput, readFileOutput } from "./read-file-schemas.ts";
import { type ShownLines, shownResult } from "./shown-result.ts";

const MAX_FILE_BYTES = 50 * 1024 * 1024;

/** Codex:read_file: numbered lines of a text file, or the block around one of them. */
export const codexReadFile: Tool = defineTool({
  id: "Codex:read_file",
  kind: "read",
  capabilities: { readOnly: true },
  description: `Reads a text file. Each line comes as \`L12: text\`, where the number is not part of the file; lines of more than 500 bytes are cut and end with \`...\`.

- \`\${{ params.read.file_path }}\` must be absolute.
- Without a mode, lines come one after the other: \`\${{ params.read.limit }}\` lines from \`\${{ params.read.offset }}\` on, usually the first ${DEFAULT_LIMIT}.
- The mode \`indentation\` shows the block of code around a line by its indentation.`,
  input: readFileInput,
  output: readFileOutput,
  resources: [fileReadTracker],
  truncation: { builtInMaxOutput: Number.POSITIVE_INFINITY },
  run: runReadFile,
});

type ReadContext = ToolContext<undefined>;

async function runReadFile(input: ReadFileInput, context: ReadContext): Promise<ToolResult> {
  const name = context.parameterName;
  if (input.offset === 0) return invalidRead(`\`${name("offset")}\` must be 1 or more`);
  if (input.limit === 0) return invalidRead(`\`${name("limit")}\` must be 1 or more`);
  if (!isAbsolute(input.file_path)) {
    return invalidRead(`\`${name("file_path")}\` must be an absolute path, not ${input.file_path}`);
  }
  const named = resolve(input.file_path);
  const path = await resolveLinks(named);
  try {
    if (context.settings.respectGitignore === "all" && (await context.resource(ignoreFilter).isIgnored(path)))
      return ignored(named);
    await using file = await openFile(path, readableRoots(context));
    return await readLines(input, { file, path, named }, context);
  } catch (thrown) {
    return await accessFailure(thrown, named, context);
  }
}

function ignored(named: string): ToolResult {
  return readFailure(`Error: ${named} is ignored by .gitignore, and ignored files are off limits here.`, {
    code: ErrorCode.PERMISSION_DENIED,
    reason: "ignored",
    filePath: named,
  });
}

interface Target {
  readonly file: OpenFile;
  /** Real path. */
  readonly path: string;
  readonly named: string;
}

async function readLines(input: ReadFileInput, target: Target, context: ReadContext): Promise<ToolResult> {
  const { file, path, named } = target;
  if (file.sizeBytes > MAX_FILE_BYTES) {
    const text = `${named} has ${file.sizeBytes} bytes; files up to ${MAX_FILE_BYTES} bytes can be read`;
    return invalidRead(text, { filePath: named, reason: "too_large" });
  }
  const probe = await readRange(file, 0, Math.min(PROBE_BYTES, file.sizeBytes));
  if (isBinaryContent(extensionOf(path), probe)) {
    const text = `${named} is a binary file and cannot be shown as text`;
    return invalidRead(text, { filePath: named, reason: "binary" });
  }
  const shown =
    input.mode === "slice"
      ? await readSlice(input, target, context)
      : await readBlock(input, target, context);
  if ("output" in shown) return shown;
  const { lines, firstLine, read } = shown;
  const range = lines.length === 0 ? undefined : ([firstLine, firstLine + lines.length - 1] as const);
  context.resource(fileReadTracker).record({ path, stats: file.stats, sha256: read.sha256, range });
  context.touched({ access: "read", path });
  return shownResult(input, shown, { named, maxOutputBytes: context.limits.maxOutput });
}

async function readSlice(
  { offset = 1, limit = DEFAULT_LIMIT }: ReadFileInput,
  { named, ...target }: Target,
  context: ReadContext,
): Promise<ShownLines | ToolResult> {
  const { lines, read, totalLines } = await readWindow(target, { offset, limit }, context);
  if (lines.length > 0) return { lines, firstLine: offset, read, totalLines };
  return invalidRead(
    `\`${context.parameterName("offset")}\` ${offset} is past the end: ${named} has ${totalLines} lines`,
    { filePath: named },
  );
}

async function readBlock(
  { offset = 1, limit = DEFAULT_LIMIT, indentation }: ReadFileInput,
  { named, ...target }: Target,
  context: ReadContext,
): Promise<ShownLines | ToolResult> {
  const anchorLine = indentation?.anchor_line ?? offset;
  if (anchorLine === 0) return invalidRead("`anchor_line` must be 1 or more", { filePath: named });
  if (indentation?.max_lines === 0) return invalidRead("`max_lines` must be 1 or more", { filePath: named });
  const { lines, read, totalLines } = await readWindow(target, { offset: 1, limit: Infinity }, context);
  if (lines.length === 0) return { lines, firstLine: 1, read, totalLines };
  if (anchorLine > lines.length) {
    return invalidRead(`\`anchor_line\` ${anchorLine} is past the end: ${named} has ${lines.length} lines`, {
      filePath: named,
    });
  }
  const block = indentationBlock(lines, {
    anchor: anchorLine - 1,
    maxLevels: indentation?.max_levels ?? 0,
    includeSiblings: indentation?.include_siblings ?? false,
    includeHeader: indentation?.include_header ?? true,
    maxLines: Math.min(limit, indentation?.max_lines ?? limit),
  });
  if (block === undefined) return { lines: [], firstLine: anchorLine, read, totalLines };
  const { first, last } = block;
  return { lines: lines.slice(first, last + 1), firstLine: first + 1, read, totalLines };
}

interface Window {
  readonly lines: readonly string[];
  readonly read: ReadText;
  /** A final line feed begins no further line. */
  readonly totalLines: number;
}

async function readWindow(
  { file, path }: Pick<Target, "file" | "path">,
  { offset, limit }: { readonly offset: number; readonly limit: number },
  context: ReadContext,
): Promise<Window> {
  const read = await readText(file, {
    path,
    indexes: context.resource(lineIndexCache),
    signal: context.signal,
    offset,
    maxLines: limit,
    maxBytes: MAX_FILE_BYTES,
  });
  const { window } = read;
  if (window.kind === "too-large") throw new TypeError("a window is never larger than its file");
  const totalLines = read.totalLines - (read.endsWithLineFeed ? 1 : 0);
  return { lines: withoutEmptyEnd(window.lines, window.rawText), read, totalLines };
}

/** Without the empty text behind a final line feed, which a window counts as a line. */
function withoutEmptyEnd(lines: readonly string[], rawText: string): readonly string[] {
  if (lines.at(-1) !== "") return lines;
  const isTerminated = rawText.split("\n").length - 1 === lines.length;
  return isTerminated ? lines : lines.slice(0, -1);
}
