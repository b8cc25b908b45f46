import { ErrorCode } from "@trivium/proto/grok-tools";
import { z } from "zod";
import { planFilePath, readPlanFile } from "../../../plan/plan-file.ts";
import { planMode } from "../../../plan/plan-mode.ts";
import { type PlanParams, planParams } from "../../../plan/plan-params.ts";
import { answersPush } from "../../../questions/answers-push.ts";
import { pendingQuestions } from "../../../questions/pending-questions.ts";
import { type PlanOutcome, parsePlanOutcome } from "../../../questions/plan-outcome.ts";
import { DEFAULT_TIMEOUT_SECONDS } from "../../../questions/question-timeout.ts";
import { defineTool, type Tool, type ToolContext, type ToolResult } from "../../../tool.ts";
import { ToolError } from "../../../tool-error.ts";

const id = "GrokBuild:exit_plan_mode";
const type = z.literal("ExitPlanMode");

type ExitContext = ToolContext<PlanParams>;
type Plan = { readonly path: string; readonly content: string };

/** GrokBuild:exit_plan_mode: the plan is done; where it is asked for, somebody approves it first. */
export const exitPlanMode: Tool = defineTool({
  id,
  kind: "exit_plan",
  capabilities: { readOnly: true, unlimitedCalls: true, custom: answersPush },
  description: `Ends the plan mode and shows the plan to the user. Call it when the plan file says everything that is to be done; the plan is read from the file, so there is nothing to pass.`,
  input: z.object({}),
  params: planParams,
  output: {
    schema: z.union([
      z.object({
        type,
        PlanReady: z.object({ message: z.string(), plan_content: z.string(), plan_file_path: z.string() }),
      }),
      z.object({ type, EmptyPlan: z.object({ message: z.string(), plan_file_path: z.string() }) }),
      z.object({
        type,
        NotApproved: z.object({
          message: z.string(),
          plan_file_path: z.string(),
          outcome: z.enum(["cancelled", "abandoned"]),
          feedback: z.string(),
        }),
      }),
    ]),
    fields: [
      { name: "message", description: "What is to be done now.", type: "string" },
      { name: "plan_content", description: "The plan.", type: "string", potentiallyLarge: true },
      { name: "plan_file_path", description: "Where the plan is, absolute.", type: "string" },
    ],
  },
  resources: [planMode, pendingQuestions],
  requires: ({ toolset }) =>
    toolset.hasTool("GrokBuild:enter_plan_mode")
      ? undefined
      : {
          message: "there is no plan mode to leave: GrokBuild:enter_plan_mode is missing",
          fieldPath: "tools",
          expected: "GrokBuild:enter_plan_mode in the toolset",
        },
  run: (_input, context) => exit(context),
});

async function exit(context: ExitContext): Promise<ToolResult> {
  const { params, workspaceRoots } = context;
  const path = planFilePath(params, context);
  if (path === undefined) {
    throw new ToolError(
      ErrorCode.INTERNAL,
      `the place of the plan ${params.plan_file} is not known: no home`,
      {
        details: { code: "missing_resource" },
      },
    );
  }
  const content = await readPlanFile(path, workspaceRoots);
  if (content !== undefined) context.touched({ access: "read", path });
  if (content === undefined || content.trim() === "") return empty(path, context);
  const plan = { path, content };
  const outcome: PlanOutcome = params.require_approval
    ? await askForApproval(plan, context)
    : { outcome: "approved" };
  // A plan that is to be revised is still being made.
  if (outcome.outcome !== "cancelled") leave(context, plan);
  return outcome.outcome === "approved" ? ready(plan) : notApproved(plan, outcome);
}

/** Without a plan there is nothing that somebody could approve. */
function empty(path: string, context: ExitContext): ToolResult {
  const needsApproval = context.params.require_approval;
  const message = needsApproval
    ? `The plan ${path} is empty, and plan mode stays on: write the plan, then show it.`
    : `Plan mode is off. The plan ${path} is empty: say in a few words what you will do before you start.`;
  const output = { type: "ExitPlanMode", EmptyPlan: { message, plan_file_path: path } };
  if (needsApproval) {
    const failure = { code: ErrorCode.EXECUTION_FAILED, reason: "plan_not_approved" };
    return { output, promptText: message, failure };
  }
  leave(context, { path, content: "" });
  return { output, promptText: message };
}

async function askForApproval({ path, content }: Plan, context: ExitContext): Promise<PlanOutcome> {
  if (!context.settings.answersQuestions) {
    return { outcome: "cancelled", feedback: "Nobody is there who could approve the plan." };
  }
  const asked = { plan_content: content, plan_file_path: path };
  const pending = context.resource(pendingQuestions).ask({
    callId: context.callId,
    toolId: id,
    kind: "plan-approval",
    content: asked,
    timeoutMs: DEFAULT_TIMEOUT_SECONDS * 1000,
    signal: context.signal,
    parse: parsePlanOutcome,
  });
  context.notify({ type: "UserQuestionAsked", tool_call_id: context.callId, questions_json: asked });
  return (await pending) ?? { outcome: "cancelled", feedback: "Nobody has looked at the plan in time." };
}

function leave(context: ExitContext, { path, content }: Plan): void {
  context.resource(planMode).leave();
  context.notify({
    type: "PlanModeExited",
    tool_call_id: context.callId,
    plan_content: content.trim() === "" ? null : content,
    plan_file_path: path,
  });
}

function ready({ path, content }: Plan): ToolResult {
  const message = `Plan mode is off and the plan is approved. It is in ${path}: carry it out.`;
  return {
    output: { type: "ExitPlanMode", PlanReady: { message, plan_content: content, plan_file_path: path } },
    promptText: `${message}\n\n## Plan:\n${content}`,
  };
}

function notApproved({ path }: Plan, outcome: Exclude<PlanOutcome, { outcome: "approved" }>): ToolResult {
  const feedback = outcome.outcome === "cancelled" ? outcome.feedback : "";
  const message =
    outcome.outcome === "abandoned"
      ? "The user has given the plan up. Plan mode is off: do not carry the plan out, and wait for what the user says."
      : [
          `The plan ${path} is not approved, and plan mode stays on. Revise the plan, then show it again.`,
          ...(feedback === "" ? [] : [`The user says: ${feedback}`]),
        ].join("\n");
  return {
    output: {
      type: "ExitPlanMode",
      NotApproved: { message, plan_file_path: path, outcome: outcome.outcome, feedback },
    },
    promptText: message,
    failure: {
      code: ErrorCode.EXECUTION_FAILED,
      reason: outcome.outcome === "abandoned" ? "plan_abandoned" : "plan_not_approved",
    },
  };
}
