import type { NotifiedTime, ToolNotification } from "../notifications/tool-notification.ts";
import type { ShellTask } from "./shell-task.ts";
import { cutOutput } from "./shell-text.ts";

/** What the host is told when a task has ended. */
export async function taskCompleted(
  task: ShellTask,
  { sessionId }: { readonly sessionId: string },
): Promise<ToolNotification> {
  const kept = await task.running.output();
  const { text, isTruncated } = cutOutput(kept, task.maxOutput);
  return {
    type: "TaskCompleted",
    task_id: task.taskId,
    command: task.command,
    ...(task.displayCommand !== undefined && { display_command: task.displayCommand }),
    cwd: task.workingDirectory,
    start_time: toTime(task.startedAtMs),
    end_time: task.endedAtMs === undefined ? null : toTime(task.endedAtMs),
    output: text,
    output_file: task.outputFile,
    truncated: isTruncated,
    output_total_bytes: kept.totalBytes,
    exit_code: task.exitCode,
    signal: task.signal,
    completed: task.hasEnded,
    kind: task.kind,
    block_waited: task.waiterCount > 0,
    explicitly_killed: task.wasKilled,
    kill_result_delivered: task.isKillAwaited,
    owner_session_id: sessionId,
    ...(task.description !== null && { description: task.description }),
    is_backgrounded: true,
  };
}

function toTime(epochMs: number): NotifiedTime {
  const secs = Math.floor(epochMs / 1000);
  return { secs_since_epoch: secs, nanos_since_epoch: Math.round((epochMs - secs * 1000) * 1_000_000) };
}
