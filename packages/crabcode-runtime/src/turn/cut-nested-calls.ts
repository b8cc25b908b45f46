import { z } from "zod";
import type { PublishedEvent } from "../events/session-event-bus.ts";
import { openQuestions } from "./open-questions.ts";

const nestedEvent = z.object({
  type: z.enum(["tool_use", "tool_result"]),
  tool_use_id: z.string(),
  tool_name: z.string(),
  tool_input: z.record(z.string(), z.unknown()),
  parent_tool_use_id: z.string(),
});

/** A call of a code cell that has no result. */
export interface CutNestedCall {
  readonly parentToolUseId: string;
  readonly toolUseId: string;
  readonly name: string;
  readonly input: Readonly<Record<string, unknown>>;
  /** It waited for an answer, so it has had no effect. */
  readonly wasWaiting: boolean;
}

/** The calls of code cells among the events of a cut run that are without a result. */
export function cutNestedCalls(published: readonly PublishedEvent[]): CutNestedCall[] {
  const waiting = new Set(openQuestions(published).map(({ request }) => request.tool_use_id));
  const open = new Map<string, CutNestedCall>();
  for (const { data } of published) {
    const event = nestedEvent.safeParse(JSON.parse(data)).data;
    if (event === undefined) continue;
    const { type, tool_use_id: toolUseId, tool_name: name, tool_input: input } = event;
    if (type === "tool_result") open.delete(toolUseId);
    else {
      const parentToolUseId = event.parent_tool_use_id;
      open.set(toolUseId, { parentToolUseId, toolUseId, name, input, wasWaiting: waiting.has(toolUseId) });
    }
  }
  return [...open.values()];
}
