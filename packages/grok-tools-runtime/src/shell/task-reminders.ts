import type { FinishedCall } from "../session-resource.ts";
import type { ShellTask } from "./shell-task.ts";
import type { TaskRegistry } from "./task-registry.ts";

/** Texts for the model: tasks that have ended since it was last told, and others that run beside a new one. */
export function taskReminders(registry: TaskRegistry, call: FinishedCall): string[] {
  const texts: string[] = [];
  for (const task of registry.list()) {
    if (!task.hasEnded || registry.wasReported(task)) continue;
    task.isReported = true;
    if (registry.tellsCompletions) texts.push(completionText(task));
  }
  if (call.output.type === "BackgroundTaskStarted") {
    const others = registry.list().filter((task) => !task.hasEnded && task.taskId !== call.output["task_id"]);
    if (others.length > 0) texts.push(runningText(others));
  }
  return texts;
}

function completionText(task: ShellTask): string {
  const how = task.signal === null ? `exit code: ${task.exitCode}` : `terminated by signal ${task.signal}`;
  return [
    `Background task ${task.taskId} has ended (${how}) after ${seconds(task)}s.`,
    `Command: ${task.command}`,
    `Its output is in ${task.outputFile}; the task-output tool shows it under this id.`,
  ].join("\n");
}

function runningText(tasks: readonly ShellTask[]): string {
  const lines = tasks.map((task) => `- ${task.taskId} (${seconds(task)}s): ${task.command}`);
  const count =
    tasks.length === 1 ? "1 other background task is" : `${tasks.length} other background tasks are`;
  return [`${count} still running. End those that are no longer needed with the kill tool:`, ...lines].join(
    "\n",
  );
}

function seconds(task: ShellTask): string {
  return (task.durationMs / 1000).toFixed(1);
}
