import { TriviumError } from "@trivium/core";
import type { CrabcodeRuntime, SessionGate } from "@trivium/crabcode-runtime";
import type { ChoiceAsker } from "@trivium/grok-tools-runtime";

/** Gives the permissions and the people of a conversation. @throws {@link TriviumError} `notFound` */
export type OpenGate = CrabcodeRuntime["openGate"];

/** {@link OpenGate} of a server that has no conversations. */
export const noConversations: OpenGate = () =>
  Promise.reject(
    new TriviumError("notFound", "no session has that id: this server does not serve conversations"),
  );

/**
 * Asks the people of a conversation what tools ask.
 *
 * @param toolSession tells calls of different tool sessions apart, which may have the same ids; "" is the default
 * session. Absent: nothing else has the ids of these calls.
 */
export function toChoiceAsker(gate: SessionGate, toolSession?: string): ChoiceAsker {
  // Without the slashes that the id of a session may have: `a` with the call `b/c` is not `a/b` with the call `c`.
  const prefix = toolSession === undefined ? "" : `${encodeURIComponent(toolSession)}/`;
  return {
    async choose({ callId, number, question, options, isMultiple: multiple, signal }) {
      const toolUseId = `${prefix}${callId}/${number}`;
      const asked = { toolUseId, question, options, multiple, signal };
      const { selected, isCancelled, resolution } = await gate.choose(asked);
      if (resolution === "expired") return { type: "expired" };
      return isCancelled ? { type: "cancelled" } : { type: "chosen", labels: selected };
    },
  };
}
