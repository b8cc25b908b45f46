import type { ModelPort } from "../ports/model-port.ts";
import type { SessionEnvironment, SessionParts } from "./session-deps.ts";

/**
 * Makes the model of a profile for the loops of one session.
 *
 * @throws CrabcodeError MODEL_NOT_FOUND, PROFILE_UNUSABLE
 */
export function openProfile(
  { models, store }: Pick<SessionEnvironment, "models" | "store">,
  { sessionId, settings }: Pick<SessionParts, "sessionId" | "settings">,
  profile: string,
): ModelPort {
  return models.open(profile, {
    settings: settings.models,
    sessionId,
    state: {
      read: (key) => store.readModelState(sessionId, key),
      write: (key, value) => store.writeModelState(sessionId, { key, value }),
    },
  });
}
