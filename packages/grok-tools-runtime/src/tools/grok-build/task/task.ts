import { resolve } from "node:path";
import { abortReason, sleep } from "@trivium/core";
import { z } from "zod";
import { builtInDefinitions } from "../../../subagents/definitions/built-in-definitions.ts";
import { NO_HOST_SUGGESTION } from "../../../subagents/subagent-errors.ts";
import type { Subagent, SubagentEnd, SubagentType } from "../../../subagents/subagents.ts";
import { defineTool, type Tool, type ToolContext, type ToolResult } from "../../../tool.ts";
import { endedResult, type HandOver, workingResult } from "./task-answer.ts";
import { cleanFolder, type TaskInput, taskInput, withoutTaskId } from "./task-input.ts";

/** How long a call waits for a subagent, time in the line included. */
const FOREGROUND_BUDGET_MS = 45_000;

interface TaskParams {
  /** Remind the model of its own work when a subagent works on. */
  readonly append_continue_hint: boolean;
}

function listed(types: readonly SubagentType[]): string {
  return types.map((type) => `- ${type.name}: ${type.description}`).join("\n");
}

/** What the description says until the session tells which types it has. */
const builtInTypes = listed(builtInDefinitions);

/** GrokBuild:task: gives work to a subagent. */
export const task: Tool = defineTool<typeof taskInput, TaskParams>({
  id: "GrokBuild:task",
  kind: "task",
  capabilities: {
    readOnly: false,
    cancellable: true,
    backgroundParameter: "run_in_background",
    unlimitedCalls: true,
    providesBackgroundTasks: () => true,
  },
  description: ({
    remindersEnabled,
  }) => `Gives a task to a subagent, which works on it alone and answers once.

Types:
${builtInTypes}

- The subagent knows nothing of this conversation: the \`\${{ params.task.prompt }}\` has everything it needs, and says what to answer with.
- By default it works in the background and the call returns its id. ${remindersEnabled ? "You will be notified when it ends." : "Look at it with `${{ tools.by_kind.background_task_action }}`."} End it with \`\${{ tools.by_kind.kill_task_action }}\`.
- With \`\${{ params.task.run_in_background }}\` false the call waits, at most 45 seconds; a subagent that needs longer goes on in the background.
- Several subagents work at once when their tasks do not depend on each other.
- \`\${{ params.task.resume_from }}\` goes on with an ended subagent, which remembers what it did.`,
  input: taskInput,
  params: {
    stateKey: "trivium.Task",
    schema: z.strictObject({ append_continue_hint: z.boolean().default(false) }),
  },
  output: {
    schema: z.union([
      z.object({ type: z.literal("Text"), text: z.string() }),
      z.object({
        type: z.literal("SubagentCompleted"),
        output: z.string(),
        subagent_id: z.string(),
        subagent_type: z.string(),
        tool_calls: z.int(),
        turns: z.int(),
        duration_ms: z.int(),
        worktree_path: z.string().nullable(),
        persona: z.string().nullable(),
        resume_from_hint: z.string(),
        persona_hint: z.string().nullable(),
      }),
    ]),
    fields: [
      { name: "text", description: "About a subagent that works on.", type: "string" },
      {
        name: "output",
        description: "Last text of an ended subagent.",
        type: "string",
        potentiallyLarge: true,
      },
      { name: "subagent_id", description: "Its id.", type: "string" },
      { name: "subagent_type", description: "Its type.", type: "string" },
      { name: "tool_calls", description: "Tool calls it made.", type: "number" },
      { name: "turns", description: "Model requests it made.", type: "number" },
      { name: "duration_ms", description: "Milliseconds it took.", type: "number" },
      { name: "worktree_path", description: "Its worktree, or null.", type: "string" },
      { name: "persona", description: "Always null: there are no personas here.", type: "string" },
      { name: "resume_from_hint", description: "Id to go on with it.", type: "string" },
      { name: "persona_hint", description: "Always null: there are no personas here.", type: "string" },
    ],
  },
  dependency: {
    name: "subagent_host",
    setting: "client_callback_addr",
    isConfigured: (_settings, { subagentHost }) => subagentHost !== undefined,
    suggestion: NO_HOST_SUGGESTION,
  },
  // The result of a subagent is its answer; who wrote the task decides how long it is.
  truncation: { builtInMaxOutput: Number.POSITIVE_INFINITY },
  requires: ({ toolset }) =>
    toolset.hasKind("background_task_action") && toolset.hasKind("kill_task_action")
      ? undefined
      : {
          message: "subagents that work on need a tool that shows tasks and one that ends them",
          fieldPath: "tools",
          expected: "GrokBuild:get_task_output and GrokBuild:kill_task",
        },
  specialiseInput: withoutTaskId,
  async describeInSession(description, { subagents }) {
    const types = await subagents.types();
    return description.replace(builtInTypes, () => listed(types));
  },
  run: runTask,
});

async function runTask(input: TaskInput, context: ToolContext<TaskParams>): Promise<ToolResult> {
  const { subagents, signal } = context;
  const child = await subagents.start(
    {
      id: input.task_id,
      prompt: input.prompt,
      description: input.description,
      type: input.subagent_type,
      resumeFrom: input.resume_from,
      cwd: folderOf(input, context),
      model: input.model,
      isolation: input.isolation,
      promptId: context.promptId,
      owner: input.run_in_background ? "background" : "foreground",
    },
    signal,
  );
  const handOver = (why: HandOver): ToolResult =>
    workingResult(child, { why, appendsContinueHint: context.params.append_continue_hint }, context);
  if (child.isBackground) return handOver("background");
  using _hold = child.hold();
  const end = await endWithinBudget(child, context);
  if (end === undefined) return handOver("over-budget");
  child.markDelivered();
  return endedResult(child, end, context);
}

function folderOf(
  { cwd }: TaskInput,
  { workingDirectory, homeDirectory }: ToolContext<TaskParams>,
): string | undefined {
  return cwd === undefined ? undefined : resolve(workingDirectory, cleanFolder(cwd, homeDirectory));
}

/**
 * How the subagent ended; undefined when it needs longer than a call waits.
 *
 * @throws the reason of the call's signal, after the subagent has ended.
 */
async function endWithinBudget(
  child: Subagent,
  { signal, clock }: ToolContext<TaskParams>,
): Promise<SubagentEnd | undefined> {
  const waiting = new AbortController();
  const stop = (): void => waiting.abort();
  signal.addEventListener("abort", stop, { once: true });
  if (signal.aborted) stop();
  try {
    const budget = sleep(clock, FOREGROUND_BUDGET_MS, waiting.signal).catch(() => {
      // The call was cancelled, or is no longer waiting: told apart below.
    });
    const end = await Promise.race([child.finished, budget.then(() => undefined)]);
    if (!signal.aborted || end !== undefined) return end;
  } finally {
    signal.removeEventListener("abort", stop);
    stop();
  }
  await child.cancel("the call that waited for it was cancelled");
  throw abortReason(signal);
}
