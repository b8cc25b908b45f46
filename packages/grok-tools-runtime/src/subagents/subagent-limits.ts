/** How many children a session may run, and the times around them. */
export interface SubagentLimits {
  /** Children of one session that run at once. */
  readonly maxConcurrent: number;
  /** At that limit: wait in line, or be refused. */
  readonly atLimit: "queue" | "fail";
  /** Children may be started by those less deep than this; calls of the host are at 0. */
  readonly maxDepth: number;
  /** Time to find out whether a type exists. */
  readonly validationMs: number;
}

const DEFAULT_CONCURRENT = 32;
const DEFAULT_VALIDATION_MS = 2_000;

/** The limits, some of which the environment of the server changes. */
export function subagentLimits(environment: Readonly<Record<string, string | undefined>>): SubagentLimits {
  const behavior = environment["GROK_SUBAGENT_LIMIT_BEHAVIOR"]?.trim().toLowerCase();
  return {
    // 0 does not switch the limit off.
    maxConcurrent: Math.max(
      1,
      wholeNumber(environment["GROK_MAX_CONCURRENT_SUBAGENTS"]) ?? DEFAULT_CONCURRENT,
    ),
    atLimit: behavior === "fail" ? "fail" : "queue",
    maxDepth: 1,
    validationMs: Math.max(
      1,
      wholeNumber(environment["XAI_VALIDATE_TYPE_TIMEOUT_MS"]) ?? DEFAULT_VALIDATION_MS,
    ),
  };
}

function wholeNumber(text: string | undefined): number | undefined {
  const value = Number(text?.trim() || undefined);
  return Number.isSafeInteger(value) && value >= 0 ? value : undefined;
}
