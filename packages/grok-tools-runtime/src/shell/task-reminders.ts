import type { FinishedCall } from "../session-resource.ts";
import type { ShellTask } from "./shell-task.ts";
import type { TaskRegistry } from "./task-registry.ts";

/** Texts for the model: tasks that have ended since it was last told, and others that run beside a new one. */
export function taskReminders(registry: TaskRegistry, call: FinishedCall): string[] {
  const texts: string[] = [];
  for (const task of registry.list()) {
    if (!task.hasEnded || task.waiterCount > 0 || registry.wasReported(task)) continue;
    task.isReported = true;
    if (registry.tellsCompletions && !call.areCompletionsMuted) {
      texts.push(completionText(task, registry.toolName("background_task_action")));
    }
  }
  if (call.output.type === "BackgroundTaskStarted") {
    const started = call.output["task_id"];
    const others = registry.list().filter((task) => !task.hasEnded && task.taskId !== started);
    if (others.length > 0) texts.push(runningText(others, registry.toolName("kill_task_action")));
  }
  return texts;
}

function completionText(task: ShellTask, outputTool: string | undefined): string {
  const how = task.signal === null ? `exit code: ${task.exitCode}` : `terminated by signal ${task.signal}`;
  return [
    `Background task ${task.taskId} has ended (${how}) after ${seconds(task)}s.`,
    `Command: ${task.displayCommand ?? task.command}`,
    outputTool === undefined
      ? `Its output is in ${task.outputFile}.`
      : `Get its output with ${outputTool}; all of it is in ${task.outputFile}.`,
  ].join("\n");
}

function runningText(tasks: readonly ShellTask[], killTool: string | undefined): string {
  const lines = tasks.map(
    (task) => `- ${task.taskId} (${seconds(task)}s): ${task.displayCommand ?? task.command}`,
  );
  const count =
    tasks.length === 1 ? "1 other background task is" : `${tasks.length} other background tasks are`;
  const advice = killTool === undefined ? "" : ` End those that are no longer needed with ${killTool}.`;
  return [`${count} still running.${advice}`, ...lines].join("\n");
}

function seconds(task: ShellTask): string {
  return (task.durationMs / 1000).toFixed(1);
}
