import { z } from "zod";
import { type PlanFileSeed, planFilePath, seedPlanFile } from "../../../plan/plan-file.ts";
import { planMode } from "../../../plan/plan-mode.ts";
import { type PlanParams, planParams } from "../../../plan/plan-params.ts";
import { defineTool, type Tool, type ToolContext, type ToolResult } from "../../../tool.ts";

/** GrokBuild:enter_plan_mode: from now on the model plans; its plan goes into a file. */
export const enterPlanMode: Tool = defineTool({
  id: "GrokBuild:enter_plan_mode",
  kind: "enter_plan",
  capabilities: { readOnly: true },
  description: `Starts the plan mode: look at what is there, write a plan into the plan file, and change nothing else until the plan is done. Use it before work of several steps where a wrong start would be costly. End it with \`\${{ tools.by_kind.exit_plan }}\`.`,
  input: z.object({}),
  params: planParams,
  output: {
    schema: z.object({
      type: z.literal("EnterPlanMode"),
      Entered: z.object({
        message: z.string(),
        plan_file_path: z.string(),
        tool_hints: z.object({ ask_user: z.string(), exit_plan: z.string(), task: z.string() }),
        plan_file_seed: z.union([
          z.enum(["empty", "non_empty"]),
          z.object({ missing: z.enum(["not_a_file", "inaccessible", "not_created", "unavailable"]) }),
        ]),
      }),
    }),
    fields: [
      { name: "message", description: "What to do in plan mode.", type: "string" },
      { name: "plan_file_path", description: "Where the plan goes, absolute.", type: "string" },
      { name: "tool_hints", description: "Names of the tools that help.", type: "object" },
      { name: "plan_file_seed", description: "empty, non_empty, or why it is missing.", type: "string" },
    ],
  },
  resources: [planMode],
  requires: ({ toolset }) =>
    toolset.hasTool("GrokBuild:exit_plan_mode")
      ? undefined
      : {
          message: "a plan mode that is entered must be left: GrokBuild:exit_plan_mode is missing",
          fieldPath: "tools",
          expected: "GrokBuild:exit_plan_mode in the toolset",
        },
  run: (_input, context) => enter(context),
});

async function enter(context: ToolContext<PlanParams>): Promise<ToolResult> {
  const { params, callId } = context;
  const path = planFilePath(params, context);
  const seed = await seedOf(path, context);
  context.resource(planMode).enter({ enforce: params.enforce, planFile: path });
  context.notify({ type: "PlanModeEntered", tool_call_id: callId });
  const hints = {
    ask_user: context.toolName("ask_user") ?? "",
    exit_plan: context.toolName("exit_plan") ?? "",
    task: context.toolName("task") ?? "",
  };
  const message = [
    "Plan mode is on. Read and search as much as you need; change nothing except the plan.",
    `Plan file: ${path ?? "none"} (${stateText(seed)})`,
    "Write into it what is to be done, step by step, with the files concerned and how the result is checked.",
    ...(hints.ask_user === "" ? [] : [`Ask what only the user can decide with ${hints.ask_user}.`]),
    ...(hints.task === ""
      ? []
      : [`Let ${hints.task} with the type explore look at large parts of the code.`]),
    `When the plan is complete, call ${hints.exit_plan}.`,
  ].join("\n");
  const Entered = { message, plan_file_path: path ?? "", tool_hints: hints, plan_file_seed: seed };
  return { output: { type: "EnterPlanMode", Entered }, promptText: message };
}

async function seedOf(path: string | undefined, context: ToolContext<PlanParams>): Promise<PlanFileSeed> {
  if (path === undefined) return { missing: "unavailable" };
  const { seed, isNew } = await seedPlanFile(path, context.workspaceRoots);
  if (isNew) context.touched({ access: "write", path, content: { before: null, after: "" } });
  return seed;
}

function stateText(seed: PlanFileSeed): string {
  if (seed === "empty") return "it is empty";
  if (seed === "non_empty") return "it has content: read it before you go on with it";
  switch (seed.missing) {
    case "not_a_file":
      return "this is not a file, so the plan cannot be written there";
    case "inaccessible":
      return "it cannot be read";
    case "not_created":
      return "it could not be made";
    case "unavailable":
      return "its place is not known";
  }
}
