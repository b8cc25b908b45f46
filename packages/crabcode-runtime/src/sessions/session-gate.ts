import { CrabcodeError } from "../crabcode-error.ts";
import { OneAtATime } from "../gates/one-at-a-time.ts";
import type { OutsideCall, OutsideChoice } from "../gates/outside-gate.ts";
import type { ChoiceVerdict } from "../gates/question-registry.ts";
import type { Session } from "./session.ts";
import type { SessionRegistry } from "./session-registry.ts";

const goneReasons: ReadonlySet<string> = new Set(["SESSION_NOT_FOUND", "SHUTTING_DOWN"]);

/**
 * The people and the permissions of one session, for somebody whose calls are not made in it. A session that was closed
 * meanwhile is loaded again for the next question; one that was deleted permits nothing and chooses nothing.
 */
export interface SessionGate {
  readonly sessionId: string;
  /**
   * Why a call must not be made; undefined when it may. Questions of one gate are asked one by one.
   *
   * @throws the reason of the call's signal; TriviumError `alreadyExists` while another question has its id;
   * CrabcodeError for a session that cannot be loaded
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
    async permit(call) {
      const found = await findAgain(registry, sessionId);
      if (found.type === "found") return await found.session.outside.permit(call, turns);
      return `the session that was to be asked cannot be had: ${found.reason}`;
    },
    async choose(choice) {
      const found = await findAgain(registry, sessionId);
      if (found.type === "found") return await found.session.outside.choose(choice, turns);
      return { selected: [], isCancelled: true, resolution: "cancelled" };
    },
  };
}

type Found =
  | { readonly type: "found"; readonly session: Session }
  | { readonly type: "gone"; readonly reason: string };

/** Sessions are deleted and servers end while somebody holds a gate: then nobody can be asked, which is no fault. */
async function findAgain(registry: SessionRegistry, sessionId: string): Promise<Found> {
  try {
    return { type: "found", session: await registry.resolve({ sessionId }) };
  } catch (thrown) {
    if (!CrabcodeError.isInstance(thrown) || !goneReasons.has(thrown.reason)) throw thrown;
    return { type: "gone", reason: thrown.message };
  }
}
