import type { Subagent } from "../subagents/subagents.ts";
import type { ToolContext } from "../tool.ts";
import { preview, runningHint, type TaskView, type TaskWait } from "./task-text.ts";

type ViewContext = Pick<ToolContext, "limits" | "remindersEnabled" | "parameterName">;

/** The row of a child. An end that is shown counts as told. */
export function viewSubagent(child: Subagent, context: ViewContext, wait: TaskWait): TaskView {
  const { end, startedAtMs, endedAtMs } = child;
  if (end !== undefined) child.markDelivered();
  const text = end === undefined ? "" : (end.error ?? end.output);
  const totalBytes = Buffer.byteLength(text);
  const isTruncated = totalBytes > context.limits.maxOutput;
  const footer = `[Output truncated - ${totalBytes} bytes total. Ask the subagent for a shorter answer with resume_from.]`;
  const shown = isTruncated ? `${preview(Buffer.from(text), Buffer.from(text))}\n\n${footer}` : text;
  return {
    task_id: child.id,
    command: `${child.type}: ${child.description}`,
    status: child.status === "queued" ? "initializing" : child.status,
    exit_code: null,
    started: new Date(startedAtMs).toISOString(),
    ended: endedAtMs === undefined ? null : new Date(endedAtMs).toISOString(),
    duration_secs: (end?.durationMs ?? 0) / 1000,
    output:
      end === undefined
        ? progressText(child) + runningHint(context, wait)
        : withWorktree(shown, end.worktreePath),
    output_file: "",
    truncated: isTruncated,
    truncation_hint: isTruncated ? "The whole answer is not kept in a file." : null,
    raw_output_bytes: totalBytes,
  };
}

/** How far a running child is, when its runner tells. */
function progressText({ progress }: Subagent): string {
  if (progress === undefined) return "";
  const { turns, toolCalls, totalTokens } = progress;
  return `So far: ${turns} turns, ${toolCalls} tool calls, ${totalTokens} tokens.\n`;
}

function withWorktree(text: string, worktreePath: string | undefined): string {
  return worktreePath === undefined ? text : `${text}\n<worktree_path>${worktreePath}</worktree_path>`;
}
