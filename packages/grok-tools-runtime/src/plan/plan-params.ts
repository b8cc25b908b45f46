import { z } from "zod";
import type { ParamsDefinition } from "../tool-params.ts";

export interface PlanParams {
  readonly enforce: boolean;
  readonly plan_file: string | null;
  readonly require_approval: boolean;
}

/** Shared by the two plan tools. */
export const planParams: ParamsDefinition<PlanParams> = {
  stateKey: "trivium.PlanMode",
  schema: z.object({
    enforce: z
      .boolean()
      .default(false)
      .describe("Refuse edits, except of the plan, and commands while the plan mode lasts."),
    plan_file: z
      .string()
      .min(1)
      .nullable()
      .default(null)
      .describe("The plan, absolute or relative to the session's folder. Absent: .grok/plan.md."),
    require_approval: z
      .boolean()
      .default(false)
      .describe("Leave the plan mode only when somebody has approved the plan through the question service."),
  }),
};
