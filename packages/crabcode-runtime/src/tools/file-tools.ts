import type { FileChangeEvent } from "@trivium/proto/crabcode-events";
import { z } from "zod";
import type { ToolboxFailure } from "../ports/toolbox-port.ts";
import { changedLineCounts, unifiedDiff } from "./file-diff.ts";
import {
  defineTool,
  failed,
  flag,
  type Tool,
  type ToolContext,
  type ToolOutcome,
  wholeNumber,
} from "./tool.ts";

const MAX_LINES = 2000;
const MAX_READ_BYTES = 256 * 1024;
const MAX_QUOTED_CHARS = 120;
const FILE_PATH_ALIASES = { file_path: ["path", "target_file", "filepath", "file"] };

const filePath = z.string().min(1).describe("The file, absolute or relative to the working directory.");

export const read: Tool = defineTool({
  name: "Read",
  description: `Reads a text file. Each line comes with its number. At most ${MAX_LINES} lines and 256 KiB at a time; continue with offset.`,
  input: z.object({
    file_path: filePath,
    offset: wholeNumber("First line, counted from 1. Negative counts from the end."),
    limit: wholeNumber("How many lines."),
  }),
  aliases: FILE_PATH_ALIASES,
  isReadOnly: true,
  isConcurrencySafe: true,
  target: ({ file_path }) => ({ path: file_path, isFolder: false }),
  check: ({ limit }) => (limit !== undefined && limit < 1 ? "limit: must be at least 1" : undefined),
  async run({ file_path, offset, limit }, { toolbox, targetPath, signal }) {
    const text = await toolbox.readText({
      path: targetPath ?? file_path,
      ...(offset !== undefined && { offset }),
      maxLines: Math.min(limit ?? MAX_LINES, MAX_LINES),
      maxBytes: MAX_READ_BYTES,
      signal,
    });
    if (text.kind === "failure") return failed(fileProblem(text, file_path, offset));
    const { absolutePath, rawText, firstLine, totalLines } = text;
    const data = { path: absolutePath, text: rawText, first_line: firstLine, total_lines: totalLines };
    if (totalLines === 0) return { result: "File is empty.", isError: false, data };
    const lines = rawText.replace(/\r?\n$/, "").split(/\r?\n/);
    const lastLine = firstLine + lines.length - 1;
    const rendered = lines.map((line, index) => `${String(firstLine + index).padStart(6)}|${line.trimEnd()}`);
    const isCut = limit === undefined || lines.length < limit;
    if (isCut && lastLine < totalLines) {
      rendered.push(
        `[lines ${firstLine}-${lastLine} of ${totalLines}; continue with offset ${lastLine + 1}]`,
      );
    } else if (isCut && text.isTruncated) rendered.push(`[line ${lastLine} is cut at 256 KiB]`);
    return { result: rendered.join("\n"), isError: false, data };
  },
});

export const edit: Tool = defineTool({
  name: "Edit",
  description: "Replaces a text in a file. The text must occur exactly once, unless replace_all is set.",
  input: z.object({
    file_path: filePath,
    old_string: z.string().describe("The exact text to replace."),
    new_string: z.string().describe("What comes in its place."),
    replace_all: flag("Replace every occurrence."),
  }),
  aliases: FILE_PATH_ALIASES,
  isReadOnly: false,
  isConcurrencySafe: false,
  target: ({ file_path }) => ({ path: file_path, isFolder: false }),
  check({ old_string, new_string }) {
    if (old_string === "") return "old_string: must not be empty";
    return old_string === new_string ? "old_string and new_string are the same" : undefined;
  },
  async run({ file_path, old_string, new_string, replace_all }, context) {
    const edited = await context.toolbox.editText({
      path: context.targetPath ?? file_path,
      oldText: old_string,
      newText: new_string,
      replaceAll: replace_all === true,
      signal: context.signal,
    });
    if (edited.kind === "failure") return failed(editProblem(edited, file_path, old_string));
    const { details, ...change } = edited;
    const first = details[0]?.firstLine ?? 1;
    const last = details.at(-1)?.lastLine ?? first;
    const count = details.length > 1 ? ` (${details.length} replacements)` : "";
    return updated(context, change, { first, last, suffix: count });
  },
});

export const write: Tool = defineTool({
  name: "Write",
  description: "Writes a whole file, replacing what was there. Makes the folders it needs.",
  input: z.object({ file_path: filePath, content: z.string().describe("The new content.") }),
  aliases: FILE_PATH_ALIASES,
  isReadOnly: false,
  isConcurrencySafe: false,
  target: ({ file_path }) => ({ path: file_path, isFolder: false }),
  async run({ file_path, content }, context) {
    const { toolbox, targetPath, signal } = context;
    const written = await toolbox.writeFile({ path: targetPath ?? file_path, content, signal });
    if (written.kind === "failure") return failed(fileProblem(written, file_path));
    const { absolutePath, before } = written;
    if (before === null) {
      const result = `Created ${absolutePath} (${lineCount(content)} lines).`;
      const diff = unifiedDiff(absolutePath, "", content);
      context.emit(fileChange(context, { path: absolutePath, action: "create", diff }));
      const data = { path: absolutePath, is_new: true, added: lineCount(content), removed: 0 };
      return { result, isError: false, display: `${result}\n${diff}`, data };
    }
    const lines = { first: 1, last: Math.max(1, lineCount(content)), suffix: "" };
    return updated(context, { absolutePath, before, after: content }, lines);
  },
});

function updated(
  context: ToolContext,
  { absolutePath, before, after }: { absolutePath: string; before: string; after: string },
  { first, last, suffix }: { first: number; last: number; suffix: string },
): ToolOutcome {
  const { added, removed } = changedLineCounts(before, after);
  const lines = first === last ? `line ${first}` : `lines ${first}-${last}`;
  const result = `Updated ${absolutePath} (${lines}) [+${added}, -${removed}]${suffix}`;
  const diff = unifiedDiff(absolutePath, before, after);
  context.emit(fileChange(context, { path: absolutePath, action: "modify", diff }));
  const data = { path: absolutePath, is_new: false, added, removed };
  return { result, isError: false, display: `${result}\n${diff}`, data };
}

function fileChange(
  { agentId }: ToolContext,
  change: Pick<FileChangeEvent, "path" | "action" | "diff">,
): FileChangeEvent {
  return { type: "file_change", ...change, ...(agentId !== null && { agent_id: agentId }) };
}

/** The last line counts without a newline too. */
function lineCount(content: string): number {
  if (content === "") return 0;
  const newlines = content.split("\n").length - 1;
  return content.endsWith("\n") ? newlines : newlines + 1;
}

function fileProblem({ code, message, totalLines }: ToolboxFailure, path: string, offset?: number): string {
  switch (code) {
    case "not-found":
      return `Error: file not found: ${path}`;
    case "not-a-file":
      return `Error: not a file: ${path}`;
    case "is-a-directory":
      return `Error: is a directory: ${path}`;
    case "binary":
      return `Error: binary file: ${path}`;
    case "past-the-end":
      return `Error: offset ${offset ?? 1} is past the end (${totalLines ?? 0} lines)`;
    case "stale":
      return `Error: ${path} changed on disk since it was read; read it again`;
    case "no-match":
    case "several-matches":
    case "too-large":
    case "denied":
    case "invalid":
    case "unavailable":
    case "other":
      return `Error: ${message}`;
  }
}

function editProblem(failure: ToolboxFailure, path: string, oldText: string): string {
  if (failure.code === "no-match") {
    return `Error: old_string not found in ${path}: ${oldText.slice(0, MAX_QUOTED_CHARS).toWellFormed()}`;
  }
  if (failure.code === "several-matches") {
    return `Error: old_string occurs ${failure.matchCount ?? "several"} times in ${path}; use replace_all or more context`;
  }
  return fileProblem(failure, path);
}
