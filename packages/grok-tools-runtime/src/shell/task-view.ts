import type { Subagents } from "../subagents/subagents.ts";
import type { ToolContext } from "../tool.ts";
import { leftoversEndedNote } from "./leftover-limit.ts";
import type { ShellTask } from "./shell-task.ts";
import { softWrap, toPlainText } from "./shell-text.ts";
import { viewSubagent } from "./subagent-view.ts";
import type { TaskRegistry } from "./task-registry.ts";
import { cutFooter, preview, readHint, runningHint, type TaskView, type TaskWait } from "./task-text.ts";
import { viewTombstone } from "./tombstone-view.ts";

/** Output that is read as a whole before it is cut. */
const MAX_READ_BYTES = 1024 * 1024;

type ViewContext = Pick<ToolContext, "limits" | "toolName" | "remindersEnabled" | "parameterName">;

/** Whose rows to show. */
export interface ViewedTasks {
  readonly taskIds: readonly string[];
  readonly registry: TaskRegistry;
  /** Children that ids may name too; tasks come first. */
  readonly subagents?: Pick<Subagents, "get"> | undefined;
}

/** What is known of several tasks now, one row for each id. An end that is shown counts as told. */
export async function viewTasks(
  { taskIds, registry, subagents }: ViewedTasks,
  context: ViewContext,
  wait: TaskWait,
): Promise<TaskView[]> {
  const views: TaskView[] = [];
  for (const taskId of taskIds) {
    const task = registry.get(taskId);
    const child = task === undefined ? subagents?.get(taskId) : undefined;
    const tombstone = registry.tombstone(taskId);
    if (task !== undefined) views.push(await viewTask(task, context, wait));
    else if (tombstone !== undefined) views.push(await viewTombstone(tombstone, context));
    else views.push(child === undefined ? missingTaskView(taskId) : viewSubagent(child, context, wait));
  }
  return views;
}

async function viewTask(task: ShellTask, context: ViewContext, wait: TaskWait): Promise<TaskView> {
  const { status, endedAtMs, exitCode } = task;
  const totalBytes = task.running.outputBytes;
  const { text, isTruncated } = await readOutput(task, totalBytes, context.limits.maxOutput);
  if (status !== "running") task.isReported = true;
  const hint = isTruncated ? readHint(task.outputFile, context) : null;
  return {
    task_id: task.taskId,
    command: task.displayCommand ?? task.command,
    status,
    exit_code: exitCode,
    started: new Date(task.startedAtMs).toISOString(),
    ended: endedAtMs === undefined ? null : new Date(endedAtMs).toISOString(),
    duration_secs: task.durationMs / 1000,
    output: [
      hint === null ? text : `${text}\n\n${cutFooter(totalBytes, hint)}`,
      ...(status === "running" ? [runningHint(context, wait)] : []),
      ...(task.areLeftoversEnded ? [leftoversEndedNote] : []),
    ].join("\n\n"),
    output_file: task.outputFile,
    truncated: isTruncated,
    truncation_hint: hint,
    raw_output_bytes: totalBytes,
  };
}

/** The row for an id that names no task. */
function missingTaskView(taskId: string): TaskView {
  return {
    task_id: taskId,
    command: "",
    status: "not_found",
    exit_code: null,
    started: "",
    ended: null,
    duration_secs: 0,
    output: "",
    output_file: "",
    truncated: false,
    truncation_hint: null,
    raw_output_bytes: 0,
  };
}

async function readOutput(
  task: ShellTask,
  totalBytes: number,
  maxOutput: number,
): Promise<{ text: string; isTruncated: boolean }> {
  const decoder = new TextDecoder("utf-8", { ignoreBOM: true });
  if (totalBytes <= MAX_READ_BYTES) {
    const bytes = await task.running.readLog(0, totalBytes);
    // Shorter when the log could not be written.
    if (bytes.length === totalBytes) {
      const text = softWrap(toPlainText(decoder.decode(bytes)));
      if (Buffer.byteLength(text) <= maxOutput) return { text, isTruncated: false };
      return { text: preview(Buffer.from(text), Buffer.from(text)), isTruncated: true };
    }
  }
  const { head, tail } = await task.running.output();
  const clean = (bytes: Uint8Array): Buffer => Buffer.from(softWrap(toPlainText(decoder.decode(bytes))));
  return { text: preview(clean(head), clean(tail.length === 0 ? head : tail)), isTruncated: true };
}
