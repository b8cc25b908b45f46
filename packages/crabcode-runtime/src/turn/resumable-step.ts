import { z } from "zod";
import type { MessageBlock } from "../conversation/message.ts";
import type { PublishedEvent } from "../events/session-event-bus.ts";
import type { ToolOutcome } from "../tools/tool.ts";
import type { ModelCall } from "./response-collector.ts";

/** A step that a crash cut while it waited for an answer, and nothing else. */
export interface ResumableStep {
  /** All calls of the step. */
  readonly calls: readonly ModelCall[];
  /** Results that were published. */
  readonly outcomes: ReadonlyMap<string, ToolOutcome>;
  /** Calls that somebody allowed. */
  readonly approved: ReadonlySet<string>;
  /** The call that waits. */
  readonly waitingId: string;
  /** Time left to answer it; 0 is for ever. */
  readonly remainingMs: number;
}

const event = z.object({
  type: z.enum([
    "permission_request",
    "permission_response",
    "choice_request",
    "choice_response",
    "tool_result",
  ]),
  tool_use_id: z.string(),
  agent_id: z.null(),
  allowed: z.boolean().optional(),
  expires_at: z.string().nullish(),
  result: z.string().optional(),
  is_error: z.boolean().optional(),
  result_for_display: z.string().nullish(),
});

/**
 * The step that an unfinished turn can go on with: its message is in the history, a question of it is open, and
 * no call of it was running. Undefined when there is none.
 *
 * @param started calls that had begun, with or without a result
 */
export function findResumableStep(
  blocks: readonly MessageBlock[],
  events: readonly PublishedEvent[],
  { started, nowMs }: { started: ReadonlySet<string>; nowMs: number },
): ResumableStep | undefined {
  const calls = blocks.flatMap((block): ModelCall[] =>
    block.type === "tool_use"
      ? [{ toolUseId: block.id, name: block.name, input: block.input, problem: undefined }]
      : [],
  );
  const ids = new Set(calls.map(({ toolUseId }) => toolUseId));
  const outcomes = new Map<string, ToolOutcome>();
  const approved = new Set<string>(started);
  let waiting: { id: string; isChoice: boolean; expiresAt: string | undefined } | undefined;
  for (const { data } of events) {
    const parsed = event.safeParse(JSON.parse(data)).data;
    if (parsed === undefined || !ids.has(parsed.tool_use_id)) continue;
    const { type, tool_use_id: id } = parsed;
    if (type === "permission_request" || type === "choice_request") {
      waiting = { id, isChoice: type === "choice_request", expiresAt: parsed.expires_at ?? undefined };
    } else if (type === "tool_result") {
      const { result = "", is_error = false, result_for_display } = parsed;
      const display = result_for_display ?? undefined;
      outcomes.set(id, { result, isError: is_error, ...(display !== undefined && { display }) });
    } else {
      waiting = undefined;
      if (parsed.allowed === true) approved.add(id);
    }
  }
  if (waiting === undefined) return undefined;
  // A call that only asks has no effect and may be run again; any other that had begun may not.
  const wasRunning = [...started].some((id) => !outcomes.has(id) && !(waiting.isChoice && waiting.id === id));
  if (wasRunning) return undefined;
  const { expiresAt } = waiting;
  const remainingMs = expiresAt === undefined ? 0 : Math.max(1, Date.parse(expiresAt) - nowMs);
  return { calls, outcomes, approved, waitingId: waiting.id, remainingMs };
}
