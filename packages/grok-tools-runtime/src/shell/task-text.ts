import type { ToolContext } from "../tool.ts";
import type { TaskStatus } from "./shell-task.ts";

/** One row of a task-output answer. Keys as in the contract's output union. */
export interface TaskView {
  readonly task_id: string;
  readonly command: string;
  readonly status: TaskStatus | "initializing" | "not_found";
  readonly exit_code: number | null;
  readonly started: string;
  readonly ended: string | null;
  readonly duration_secs: number;
  readonly output: string;
  readonly output_file: string;
  readonly truncated: boolean;
  readonly truncation_hint: string | null;
  readonly raw_output_bytes: number;
}

/** How to read the whole output of a task. */
export function readHint(outputFile: string, { toolName }: Pick<ToolContext, "toolName">): string {
  const reader = toolName("read");
  const how = reader === undefined ? "The whole output is in" : `Read the whole output with ${reader} from`;
  return `${how} ${outputFile}`;
}

/** What stands below an output that was cut. */
export function cutFooter(totalBytes: number, hint: string): string {
  return `[Output truncated - ${totalBytes} bytes total. ${hint}]`;
}

/** How long a call has waited before it looks. */
export interface TaskWait {
  readonly waitedMs: number;
  readonly maxWaitMs: number;
}

const PREVIEW_BYTES = 2000;

/** The beginning of the one and the end of the other, cut between characters. */
export function preview(head: Buffer, tail: Buffer): string {
  const first = new TextDecoder().decode(head.subarray(0, PREVIEW_BYTES), { stream: true });
  let start = Math.max(0, tail.length - PREVIEW_BYTES);
  while (start < tail.length && ((tail[start] ?? 0) & 0xc0) === 0x80) start += 1;
  return `${first.trimEnd()}\n\n... (output truncated) ...\n\n${tail.subarray(start).toString().trimStart()}`;
}

/** What a row of a task that still runs says about waiting. */
export function runningHint(
  { remindersEnabled, parameterName }: Pick<ToolContext, "remindersEnabled" | "parameterName">,
  { waitedMs, maxWaitMs }: TaskWait,
): string {
  const name = parameterName("timeout_ms");
  const waited =
    waitedMs > 0
      ? `The task is still running after a wait of ${waitedMs} ms${waitedMs >= maxWaitMs ? ", the longest possible" : ""}.`
      : `The task is still running; ${name} waits for its end, up to ${maxWaitMs} ms.`;
  return `[${waited}${remindersEnabled ? " You will be notified when it ends." : ""}]`;
}
