import { z } from "zod";
import type { ParamsDefinition } from "../tool-params.ts";

export interface GoalParams {
  readonly objective: string | null;
  readonly verifier: string | null;
  readonly max_attempts: number;
}

export const goalParams: ParamsDefinition<GoalParams> = {
  stateKey: "trivium.Goal",
  schema: z.object({
    objective: z
      .string()
      .max(4_000)
      .nullable()
      .default(null)
      .describe("What is to be reached. Absent: there is no goal."),
    verifier: z
      .string()
      .min(1)
      .nullable()
      .default(null)
      .describe(
        "Command line whose exit code 0 says that the goal is reached. Absent: the model's word counts.",
      ),
    max_attempts: z.int().min(1).max(100).default(3).describe("How often the verifier may refuse."),
  }),
};
