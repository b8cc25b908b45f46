import { constants } from "node:fs";
import { type FileHandle, open } from "node:fs/promises";
import type { ToolContext } from "../tool.ts";
import { softWrap, toPlainText } from "./shell-text.ts";
import { cutFooter, preview, readHint, type TaskView } from "./task-text.ts";
import type { TaskTombstone } from "./task-tombstones.ts";

/** A log up to this size is read as a whole; of a longer one, this much at either end. */
const MAX_READ_BYTES = 1024 * 1024;

const lostNote = "[The task still ran when its server ended, and was ended with it.]";
const noLogNote = "[Its log is gone.]";

/** The row of a task of which no more than its tombstone and its log are left. */
export async function viewTombstone(
  tombstone: TaskTombstone,
  context: Pick<ToolContext, "limits" | "toolName">,
): Promise<TaskView> {
  const { started, ended, output_file: outputFile } = tombstone;
  const log = await readLog(outputFile);
  const text = log === undefined ? "" : shownText(log, context.limits.maxOutput);
  const hint = text === undefined ? readHint(outputFile, context) : null;
  const totalBytes = log?.totalBytes ?? 0;
  const shown =
    log !== undefined && hint !== null
      ? `${preview(Buffer.from(plain(log.head)), Buffer.from(plain(log.tail)))}\n\n${cutFooter(totalBytes, hint)}`
      : (text ?? "");
  return {
    task_id: tombstone.task_id,
    command: tombstone.command,
    status: tombstone.status,
    exit_code: tombstone.exit_code,
    started,
    ended,
    duration_secs: ended === null ? 0 : Math.max(0, Date.parse(ended) - Date.parse(started)) / 1000,
    output: [shown, ended === null ? lostNote : "", log === undefined ? noLogNote : ""]
      .filter((part) => part !== "")
      .join("\n\n"),
    output_file: log === undefined ? "" : outputFile,
    truncated: hint !== null,
    truncation_hint: hint,
    raw_output_bytes: totalBytes,
  };
}

interface Log {
  readonly totalBytes: number;
  readonly head: Buffer;
  /** The same as the head when that is all of it. */
  readonly tail: Buffer;
}

/** Undefined: there is no such file. */
async function readLog(path: string): Promise<Log | undefined> {
  if (path === "") return undefined;
  let file: FileHandle;
  try {
    file = await open(path, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
  } catch {
    return undefined;
  }
  await using log = file;
  const stats = await log.stat();
  if (!stats.isFile()) return undefined;
  const head = await readAt(log, 0);
  const tail = stats.size <= MAX_READ_BYTES ? head : await readAt(log, stats.size - MAX_READ_BYTES);
  return { totalBytes: stats.size, head, tail };
}

async function readAt(file: FileHandle, position: number): Promise<Buffer> {
  const { buffer, bytesRead } = await file.read(Buffer.alloc(MAX_READ_BYTES), 0, MAX_READ_BYTES, position);
  return buffer.subarray(0, bytesRead);
}

/** The whole text; undefined when it is too long. */
function shownText({ totalBytes, head }: Log, maxOutput: number): string | undefined {
  if (totalBytes > head.length) return undefined;
  const text = plain(head);
  return Buffer.byteLength(text) > maxOutput ? undefined : text;
}

function plain(bytes: Buffer): string {
  return softWrap(toPlainText(new TextDecoder("utf-8", { ignoreBOM: true }).decode(bytes)));
}
