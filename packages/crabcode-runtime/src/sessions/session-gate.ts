import { CrabcodeError } from "../crabcode-error.ts";
import { OneAtATime } from "../gates/one-at-a-time.ts";
import type { OutsideCall, OutsideChoice } from "../gates/outside-gate.ts";
import type { ChoiceVerdict } from "../gates/question-registry.ts";
import type { SessionRegistry } from "./session-registry.ts";

/**
 * The people and the permissions of one session, for somebody whose calls are not made in it. A session that was closed
 * meanwhile is loaded again for the next question.
 */
export interface SessionGate {
  readonly sessionId: string;
  /**
   * Why a call must not be made; undefined when it may. Questions of one gate are asked one by one.
   *
   * @throws the reason of the call's signal; CrabcodeError as every call of a session that cannot be had
   */
  permit(call: OutsideCall): Promise<string | undefined>;
  /** @throws as {@link SessionGate.permit} */
  choose(choice: OutsideChoice): Promise<ChoiceVerdict>;
}

/** @throws CrabcodeError SESSION_NOT_FOUND, also for "", which names no session here */
export async function openSessionGate(registry: SessionRegistry, sessionId: string): Promise<SessionGate> {
  if (sessionId === "") throw new CrabcodeError("SESSION_NOT_FOUND", "no session has that id");
  await registry.resolve({ sessionId });
  const turns = new OneAtATime();
  return {
    sessionId,
    permit: async (call) => (await registry.resolve({ sessionId })).outside.permit(call, turns),
    choose: async (choice) => (await registry.resolve({ sessionId })).outside.choose(choice, turns),
  };
}
