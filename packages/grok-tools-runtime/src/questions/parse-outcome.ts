import { TriviumError } from "@trivium/core";
import type { z } from "zod";
import type { JsonValue } from "../json.ts";
import { isJsonObject } from "../json.ts";
import { shorten } from "../shorten.ts";

/**
 * Reads an outcome with its schema: a union over the key `outcome`.
 *
 * @throws {@link TriviumError} `invalidInput` that names the place and what would be right.
 */
export function parseOutcome<Outcome>(
  schema: z.ZodType<Outcome>,
  outcomes: readonly string[],
  value: JsonValue,
): Outcome {
  if (!isJsonObject(value)) throw invalid("outcome_json is no object");
  const { outcome } = value;
  if (typeof outcome !== "string" || !outcomes.includes(outcome)) {
    const received = outcome === undefined ? "missing" : shorten(JSON.stringify(outcome));
    throw invalid(`outcome_json.outcome is ${received}; it can be: ${outcomes.join(", ")}`);
  }
  const parsed = schema.safeParse(value);
  if (parsed.success) return parsed.data;
  const [issue] = parsed.error.issues;
  const place = ["outcome_json", ...(issue?.path ?? [])].map(String).join(".");
  throw invalid(`${shorten(place)}: ${issue?.message ?? "it does not fit"}`);
}

function invalid(message: string): TriviumError {
  return new TriviumError("invalidInput", message);
}
