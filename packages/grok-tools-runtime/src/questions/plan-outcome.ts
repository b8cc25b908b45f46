import { z } from "zod";
import type { JsonValue } from "../json.ts";
import { parseOutcome } from "./parse-outcome.ts";

/** What became of a plan. */
export type PlanOutcome =
  | { readonly outcome: "approved" }
  /** Not yet: the plan is to be revised. */
  | { readonly outcome: "cancelled"; readonly feedback: string }
  /** Not at all. */
  | { readonly outcome: "abandoned" };

const schema: z.ZodType<PlanOutcome> = z.discriminatedUnion("outcome", [
  z.object({ outcome: z.literal("approved") }),
  z.object({ outcome: z.literal("cancelled"), feedback: z.string().max(20_000).default("") }),
  z.object({ outcome: z.literal("abandoned") }),
]);

/** Reads the answer to a plan. @throws {@link TriviumError} `invalidInput` that names what is wrong. */
export function parsePlanOutcome(value: JsonValue): PlanOutcome {
  return parseOutcome(schema, ["approved", "cancelled", "abandoned"], value);
}
