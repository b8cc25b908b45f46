import type { ChoiceRequestEvent, PermissionRequestEvent } from "@trivium/proto/crabcode-events";
import { z } from "zod";
import type { EventContext, PublishedEvent } from "../events/session-event-bus.ts";
import type { QuestionRegistry } from "../gates/question-registry.ts";

const asked = z.looseObject({
  type: z.enum(["permission_request", "choice_request"]),
  tool_use_id: z.string(),
  agent_id: z.string().nullable(),
  parent_tool_use_id: z.string().optional(),
});
const settled = z.looseObject({
  type: z.enum(["permission_response", "choice_response"]),
  tool_use_id: z.string(),
});

/** A question that an earlier process asked and nobody has settled. */
export interface OpenQuestion {
  readonly request: PermissionRequestEvent | ChoiceRequestEvent;
  /** Set for a call of a code cell. */
  readonly parentToolUseId: string | undefined;
}

/** The questions among the events of one turn or run that are still open. */
export function openQuestions(events: readonly PublishedEvent[]): OpenQuestion[] {
  const open = new Map<string, OpenQuestion>();
  for (const { data } of events) {
    const event: unknown = JSON.parse(data);
    const question = asked.safeParse(event).data;
    if (question !== undefined) {
      // The log holds what this package wrote; the type of the event says its shape.
      // oxlint-disable-next-line typescript/no-unsafe-type-assertion
      const request = event as PermissionRequestEvent | ChoiceRequestEvent;
      open.set(request.tool_use_id, { request, parentToolUseId: question.parent_tool_use_id });
    } else {
      const answer = settled.safeParse(event).data;
      if (answer !== undefined) open.delete(answer.tool_use_id);
    }
  }
  return [...open.values()];
}

/** Settles them as cancelled. */
export function cancelQuestions(
  questions: Pick<QuestionRegistry, "cancelLost">,
  open: readonly OpenQuestion[],
  context: EventContext,
): void {
  for (const { request, parentToolUseId } of open) {
    const own = parentToolUseId === undefined ? {} : { parentToolUseId };
    questions.cancelLost(request, { ...context, ...own });
  }
}
