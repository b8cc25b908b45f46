import type { PlanStep } from "@trivium/proto/crabcode-events";
import { z } from "zod";
import { defineTool, failed, type Tool } from "./tool.ts";

const MAX_STEPS = 100;

const step = z.object({
  id: z.string(),
  title: z.string().optional(),
  description: z.string().optional(),
  files: z.array(z.string()).optional(),
  depends_on: z.array(z.string()).optional().describe("Ids of steps that come first."),
  subagent_type: z.string().optional(),
});

const plan = z.object({
  title: z.string(),
  summary: z.string().optional(),
  steps: z.array(step).describe(`1 to ${MAX_STEPS} steps.`),
});

type Step = z.infer<typeof step>;

export const switchMode: Tool = defineTool({
  name: "SwitchMode",
  description:
    "Asks to switch between agent and plan mode and ends the turn. From plan to agent mode the finished plan is required.",
  input: z.object({
    target_mode: z.enum(["agent", "plan"]),
    explanation: z.string().optional().describe("Why, in one sentence."),
    plan: plan.optional(),
  }),
  isReadOnly: true,
  isConcurrencySafe: false,
  check({ target_mode, plan: submitted }, { mode }) {
    if (target_mode === mode) return `target_mode: the session is in ${mode} mode already`;
    return target_mode === "agent" && submitted === undefined
      ? "plan: required to leave plan mode"
      : undefined;
  },
  run({ target_mode, explanation = "", plan: submitted }, context) {
    if (submitted !== undefined) {
      const problems = planProblems(submitted.steps);
      if (problems.length > 0)
        return Promise.resolve(failed(`Error: the plan is not valid: ${problems.join("; ")}`));
      const { title, summary = "", steps } = submitted;
      context.emit({
        type: "plan_ready",
        plan: { title, summary, status: "pending", steps: steps.map(toPlanStep) },
      });
    }
    context.emit({ type: "mode_change", mode: target_mode, reason: explanation });
    const isSwitched = context.requestMode(target_mode, explanation);
    const result = isSwitched
      ? `Switched to ${target_mode} mode.`
      : `Asked to switch to ${target_mode} mode; the user decides.`;
    return Promise.resolve({ result, isError: false, endsTurn: true });
  },
});

function toPlanStep({ id, title, description, files, depends_on, subagent_type }: Step): PlanStep {
  return {
    id,
    title: title ?? "",
    description: description ?? "",
    files: files ?? [],
    depends_on: depends_on ?? [],
    subagent_type: subagent_type ?? "generalPurpose",
    status: "pending",
    agent_id: null,
    result: "",
    error: "",
  };
}

function planProblems(steps: readonly Step[]): string[] {
  if (steps.length === 0) return ["it has no steps"];
  if (steps.length > MAX_STEPS) return [`it has ${steps.length} steps, at most ${MAX_STEPS} are allowed`];
  const ids = new Set(steps.map(({ id }) => id));
  const problems: string[] = [];
  if (ids.has("")) problems.push("a step has an empty id");
  if (ids.size < steps.length) problems.push("two steps have the same id");
  for (const { id, depends_on = [] } of steps) {
    for (const other of depends_on) {
      if (!ids.has(other)) problems.push(`step ${id} depends on ${other}, which does not exist`);
    }
  }
  if (problems.length === 0) {
    const stuck = stepsInCycles(steps);
    if (stuck.length > 0) problems.push(`these steps wait for each other: ${stuck.join(", ")}`);
  }
  return problems;
}

/** Ids that are left when steps without open dependencies are taken away, again and again. */
function stepsInCycles(steps: readonly Step[]): string[] {
  let open = [...steps];
  for (;;) {
    const ids = new Set(open.map(({ id }) => id));
    const blocked = open.filter(({ depends_on = [] }) => depends_on.some((other) => ids.has(other)));
    if (blocked.length === open.length) return blocked.map(({ id }) => id);
    open = blocked;
  }
}
