import type { Subagent, SubagentRequest, Subagents } from "../subagents/subagents.ts";
import { firePrompt } from "./fire-prompt.ts";
import type { ScheduledTask } from "./scheduled-task.ts";

/** Runs that continue one conversation before a fresh one begins. */
const MAX_CHAIN = 10;
const OUTPUT_CAP_BYTES = 4_000;

/** Whether the child of the last run has not ended. */
export function isStillRunning({ lastSubagentId }: ScheduledTask, subagents: Subagents): boolean {
  return lastSubagentId !== undefined && isLive(subagents.get(lastSubagentId));
}

/**
 * Starts a child for one run of a task: in the conversation of the last run where that is possible, else a fresh one
 * that is told how the last run ended.
 *
 * @throws {@link ToolError} when no child can be started.
 */
export async function startRun(task: ScheduledTask, subagents: Subagents): Promise<Subagent> {
  const last = task.lastSubagentId === undefined ? undefined : subagents.get(task.lastSubagentId);
  const mayContinue =
    last?.end?.status === "completed" && !task.chainResetPending && task.iterationsSinceFresh < MAX_CHAIN;
  if (mayContinue) {
    try {
      const child = await subagents.start({ ...requestOf(task), resumeFrom: last.id });
      task.iterationsSinceFresh += 1;
      return child;
    } catch {
      // Its conversation is gone; a fresh one does the same work.
    }
  }
  const lastOutput = task.chainResetPending ? undefined : last?.end?.output;
  const { prompt } = task;
  const child = await subagents.start(requestOf(task, lastOutput));
  task.iterationsSinceFresh = 0;
  // It may have changed while the child was being started.
  task.chainResetPending = task.prompt !== prompt;
  return child;
}

function requestOf(task: ScheduledTask, lastOutput?: string): SubagentRequest {
  return {
    prompt: firePrompt(task, lastOutput),
    description: `scheduled task ${task.id}`,
    type: "general-purpose",
    owner: "schedule",
    authorise: task.authorise,
    outputCap: OUTPUT_CAP_BYTES,
  };
}

function isLive(child: Subagent | undefined): boolean {
  return child !== undefined && child.end === undefined;
}
