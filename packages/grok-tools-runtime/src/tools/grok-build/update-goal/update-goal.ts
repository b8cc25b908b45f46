import { z } from "zod";
import { type Goal, goal } from "../../../goal/goal.ts";
import { goalFailure } from "../../../goal/goal-failure.ts";
import { type GoalParams, goalParams } from "../../../goal/goal-params.ts";
import { verifyGoal } from "../../../goal/verify-goal.ts";
import { absentable, lenientBoolean } from "../../../input/lenient.ts";
import { shorten } from "../../../shorten.ts";
import { defineTool, type Tool, type ToolContext, type ToolResult } from "../../../tool.ts";
import { ToolError } from "../../../tool-error.ts";

const MAX_TEXT_LENGTH = 4_000;

interface UpdateGoalInput {
  readonly completed?: boolean | undefined;
  readonly message: string | undefined;
  readonly blocked_reason: string | undefined;
}

const input: z.ZodType<UpdateGoalInput> = z.object({
  completed: lenientBoolean().optional().describe("The goal is reached."),
  message: absentable(z.string()).describe("Progress in a sentence or two."),
  blocked_reason: absentable(z.string()).describe("What keeps you from going on."),
});

type GoalContext = ToolContext<GoalParams>;

/** GrokBuild:update_goal: progress, end or block of the goal that the session was given. */
export const updateGoal: Tool = defineTool({
  id: "GrokBuild:update_goal",
  kind: "goal_update",
  capabilities: { readOnly: false, cancellable: true, unlimitedCalls: true },
  description: `Reports on the goal of this session.

- Report progress with \`\${{ params.goal_update.message }}\`.
- Set \`\${{ params.goal_update.completed }}\` only when everything is done and you have checked it: a verifier may look, and the goal cannot be changed afterwards.
- Give \`\${{ params.goal_update.blocked_reason }}\` when you cannot go on without somebody's help.`,
  input,
  params: goalParams,
  output: {
    schema: z.object({ type: z.literal("UpdateGoal"), success: z.boolean(), summary: z.string() }),
    fields: [
      { name: "success", description: "Whether the update was taken.", type: "boolean" },
      { name: "summary", description: "How the goal stands.", type: "string" },
    ],
  },
  resources: [goal],
  run: update,
});

async function update(given: UpdateGoalInput, context: GoalContext): Promise<ToolResult> {
  const texts = { message: given.message?.trim() ?? "", blocked: given.blocked_reason?.trim() ?? "" };
  assertUpdate(given, texts, context);
  const current = context.resource(goal);
  current.adopt(context.params.objective);
  if (current.objective === undefined) {
    throw goalFailure("goal_not_active", "the session has no goal; go on without reporting", {
      suggestion: "Set the param objective of update_goal when the tools are configured.",
    });
  }
  if (current.status === "completed") {
    throw goalFailure("goal_update_non_active", `the goal is completed: ${shorten(current.objective)}`);
  }
  if (given.completed === true) return await complete(current, texts.message, context);
  if (texts.blocked !== "") {
    if (texts.message !== "") current.record("message", texts.message);
    current.record("blocked", texts.blocked);
    return answer(current, "is blocked; somebody has to help");
  }
  current.record("message", texts.message);
  return answer(current, current.status === "blocked" ? "is still blocked; noted" : "goes on; noted");
}

function assertUpdate(
  { completed }: UpdateGoalInput,
  { message, blocked }: { readonly message: string; readonly blocked: string },
  { parameterName }: GoalContext,
): void {
  const names = { completed: parameterName("completed"), blocked: parameterName("blocked_reason") };
  const field = parameterName("message");
  if (completed === true && blocked !== "") {
    throw ToolError.invalidField(
      names.blocked,
      `a goal is not reached and blocked at once: give ${names.completed} or ${names.blocked}`,
    );
  }
  if (completed !== true && message === "" && blocked === "") {
    throw ToolError.invalidField(
      field,
      `there is nothing to report: give ${field}, ${names.completed} or ${names.blocked}`,
    );
  }
  for (const [name, text] of [
    [field, message],
    [names.blocked, blocked],
  ] as const) {
    if (text.length <= MAX_TEXT_LENGTH) continue;
    throw ToolError.invalidField(
      name,
      `${name} has ${text.length} characters; it can have ${MAX_TEXT_LENGTH}`,
    );
  }
}

async function complete(current: Goal, message: string, context: GoalContext): Promise<ToolResult> {
  const { verifier, max_attempts } = context.params;
  if (verifier !== null) await assertAchieved(current, { verifier, max_attempts }, context);
  current.record("completed", message);
  return answer(current, "is completed");
}

async function assertAchieved(
  current: Goal,
  { verifier, max_attempts }: { readonly verifier: string; readonly max_attempts: number },
  context: GoalContext,
): Promise<void> {
  if (current.isBeingVerified) {
    throw goalFailure("goal_classifier_in_flight", "the goal is being verified already; wait for that call");
  }
  if (current.attempts >= max_attempts) {
    throw goalFailure(
      "goal_update_post_cap",
      `the verifier has refused ${current.attempts} times, which is the limit`,
      {
        suggestion: `Report what is missing with ${context.parameterName("blocked_reason")}.`,
      },
    );
  }
  current.isBeingVerified = true;
  try {
    const { isAchieved, reason } = await verifyGoal(verifier, context);
    if (isAchieved) return;
    current.record("not_achieved", shorten(reason, MAX_TEXT_LENGTH));
    const attempt = `attempt ${current.attempts} of ${max_attempts}`;
    const code =
      current.attempts >= max_attempts ? "goal_classifier_cap_reached" : "goal_classifier_not_achieved";
    throw goalFailure(code, `the verifier says that the goal is not reached (${attempt}): ${reason}`, {
      suggestion: "Do what is missing, check it yourself, then report again.",
    });
  } finally {
    current.isBeingVerified = false;
  }
}

function answer({ objective = "" }: Goal, state: string): ToolResult {
  const summary = `The goal ${JSON.stringify(shorten(objective))} ${state}.`;
  return { output: { type: "UpdateGoal", success: true, summary }, promptText: summary };
}
