import { isUtf8 } from "node:buffer";
import { stat } from "node:fs/promises";
import { ErrorCode } from "@trivium/proto/grok-tools";
import { accessFailureOf } from "../../../files/access-failure.ts";
import { extensionOf, imageTypeOf, isBinaryContent, PROBE_BYTES } from "../../../files/content-kind.ts";
import { fileReadTracker } from "../../../files/file-read-tracker.ts";
import { ignoreFilter } from "../../../files/ignore/ignore-filter.ts";
import { readRange } from "../../../files/line-index.ts";
import { type ModelPath, toModelPath } from "../../../files/model-path.ts";
import { type OpenFile, openFile } from "../../../files/open-file.ts";
import { assertPathInsideRoots } from "../../../files/path-jail.ts";
import { missingPathText } from "../../../files/path-suggestions.ts";
import { resolveTarget } from "../../../files/resolve-target.ts";
import { readableRoots } from "../../../files/session-roots.ts";
import { defineTool, type Tool, type ToolContext, type ToolResult } from "../../../tool.ts";
import {
  contentFailure,
  type ReadFailure,
  readFailureResult,
} from "../../grok-build/read-file/read-failure.ts";
import { readFileOutput } from "../../grok-build/read-file/read-file-output.ts";
import { readImage } from "../../grok-build/read-file/read-image.ts";
import { acceptTwins } from "../accept-twins.ts";
import { showFolder } from "./read-folder.ts";
import { DEFAULT_LIMIT, type ReadInput, readInput } from "./read-input.ts";
import { showText } from "./read-text.ts";

const MAX_PDF_BYTES = 20 * 1024 * 1024;

/** OpenCode:read: lines of a file, the entries of a folder, or a picture. */
export const read: Tool = acceptTwins(
  defineTool({
    id: "OpenCode:read",
    kind: "read",
    capabilities: { readOnly: true },
    description: `Reads a file or lists a folder.

- Lines come with their numbers, \`12: text\`; the numbers are not part of the file. At most ${DEFAULT_LIMIT} lines and 50 KB are shown, and lines are cut at {max_chars_per_line} bytes; use \`\${{ params.read.offset }}\` and \`\${{ params.read.limit }}\` for the rest.
- Pictures and PDF documents are shown as they are.`,
    input: readInput,
    output: readFileOutput,
    resources: [fileReadTracker],
    truncation: { builtInMaxOutput: Number.POSITIVE_INFINITY },
    run: runRead,
  }),
  { filePath: "file_path" },
);

interface Target {
  readonly named: ModelPath;
  /** Real path. */
  readonly path: string;
}

async function runRead(input: ReadInput, context: ToolContext<unknown>): Promise<ToolResult> {
  const named = toModelPath(input.filePath, context);
  const path = await resolveTarget(named.path);
  const outcome = await readTarget(input, { named, path }, context).catch((thrown: unknown) =>
    toFailure(thrown, named, context),
  );
  if ("kind" in outcome) {
    // This tool knows one variant for all failures.
    return readFailureResult({ ...outcome, variant: "FileReadError" }, path, false);
  }
  return outcome;
}

async function readTarget(
  input: ReadInput,
  { named, path }: Target,
  context: ToolContext<unknown>,
): Promise<ToolResult | ReadFailure> {
  for (const field of ["offset", "limit"] as const) {
    if (input[field] === 0)
      return contentFailure(`Error: \`${context.parameterName(field)}\` is 0; it starts at 1.`);
  }
  if (context.settings.respectGitignore === "all" && (await context.resource(ignoreFilter).isIgnored(path))) {
    const text = `Error: ${named.display} is ignored by .gitignore, and ignored files are off limits here.`;
    return { ...contentFailure(text, "ignored"), code: ErrorCode.PERMISSION_DENIED };
  }
  const roots = readableRoots(context);
  await assertPathInsideRoots(path, roots);
  if ((await stat(path)).isDirectory()) {
    const listing = await showFolder(input, path, context);
    context.touched({ access: "list", path });
    return listing;
  }
  await using file = await openFile(path, roots);
  const outcome = await readOpened(input, { named, path, file }, context);
  if (!("kind" in outcome)) context.touched({ access: "read", path });
  return outcome;
}

async function readOpened(
  input: ReadInput,
  { named: { display }, path, file }: Target & { readonly file: OpenFile },
  context: ToolContext<unknown>,
): Promise<ToolResult | ReadFailure> {
  const probe = await readRange(file, 0, Math.min(PROBE_BYTES, file.sizeBytes));
  const extension = extensionOf(path);
  const mimeType = imageTypeOf(probe);
  if (mimeType !== undefined) return await readImage({ file, display, mimeType, signal: context.signal });
  if (extension === "pdf") return await showPdf(file, display);
  const hasEscapes = isBinaryContent("", probe) && isEscapedText(probe);
  if (isBinaryContent(extension, probe) && !(hasEscapes && !isBinaryContent(extension, plainProbe))) {
    return contentFailure(`Error: ${display} is a binary file and cannot be shown as text.`, "binary");
  }
  const shown = await showText(input, { path, file, hasEscapes }, context);
  if (shown.kind === "failure") return shown;
  const { sha256, range, result } = shown;
  context.resource(fileReadTracker).record({ path, stats: file.stats, sha256, range });
  return result;
}

/** Content that is text beyond doubt, to ask about an extension alone. */
const plainProbe = new TextEncoder().encode("text");

/** Text with so many control characters that it looks binary, such as the log of a terminal. */
function isEscapedText(probe: Uint8Array): boolean {
  if (probe.includes(0)) return false;
  // The last character may be cut off by the end of the probe, but not by that of the file.
  const cuts = probe.length < PROBE_BYTES ? [0] : [0, 1, 2, 3];
  return cuts.some((cut) => isUtf8(probe.subarray(0, probe.length - cut)));
}

async function showPdf(file: OpenFile, display: string): Promise<ToolResult | ReadFailure> {
  if (file.sizeBytes > MAX_PDF_BYTES) {
    const text = `Error: ${display} has ${file.sizeBytes} bytes; PDF documents up to ${MAX_PDF_BYTES} bytes can be read.`;
    return contentFailure(text, "too_large");
  }
  const bytes = await file.handle.readFile();
  const mimeType = "application/pdf";
  return {
    output: { type: "ReadFile", ImageContent: { data: bytes.toString("base64"), mime_type: mimeType } },
    promptText: `[document: ${mimeType}, ${bytes.length} bytes]`,
  };
}

async function toFailure(
  thrown: unknown,
  named: ModelPath,
  context: ToolContext<unknown>,
): Promise<ReadFailure> {
  const { code, reason } = accessFailureOf(thrown, context.signal);
  const failure = { kind: "failure", variant: "FileReadError", code, reason } as const;
  const { display } = named;
  if (code === ErrorCode.PERMISSION_DENIED) {
    const why = reason === "outside_roots" ? "it is outside the allowed folders" : "permission denied";
    return { ...failure, text: `Error: ${display} cannot be read: ${why}.` };
  }
  if (code === ErrorCode.FILE_NOT_FOUND && reason === undefined) {
    const scope = { ...context, roots: readableRoots(context), hints: context.settings.pathHints };
    return { ...failure, text: await missingPathText(named, scope) };
  }
  const why = thrown instanceof Error ? thrown.message : "unknown cause";
  return { ...failure, text: `Error: ${display} cannot be read: ${why}` };
}
