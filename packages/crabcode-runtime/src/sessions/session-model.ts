import type { ModelChangeEvent } from "@trivium/proto/crabcode-events";
import { CrabcodeError } from "../crabcode-error.ts";
import type { ModelListing } from "../crabcode-runtime.ts";
import type { ModelPort } from "../ports/model-port.ts";
import type { SessionEnvironment, SessionParts } from "./session-deps.ts";

/** The model profiles of one session, and which of them is active. */
export class SessionModel {
  readonly #environment: SessionEnvironment;
  readonly #parts: SessionParts;
  #profile: string;
  #active: ModelPort | undefined;

  constructor(environment: SessionEnvironment, parts: SessionParts) {
    this.#environment = environment;
    this.#parts = parts;
    const { modelProfile: stored, settings } = parts;
    const isKnown = stored !== undefined && this.#list().some(({ name }) => name === stored);
    this.#profile = isKnown ? stored : environment.models.defaultProfile(settings.models);
  }

  /** Name of the active profile. */
  get profile(): string {
    return this.#profile;
  }

  listing(): ModelListing {
    return { sessionId: this.#parts.sessionId, models: this.#list(), currentModel: this.#profile };
  }

  /**
   * The model of the active profile.
   *
   * @throws CrabcodeError MODEL_NOT_FOUND, PROFILE_UNUSABLE
   */
  active(): ModelPort {
    this.#active ??= this.open(this.#profile);
    return this.#active;
  }

  /**
   * Makes the model of a profile for one loop of the session.
   *
   * @throws CrabcodeError MODEL_NOT_FOUND, PROFILE_UNUSABLE
   */
  open(profile: string): ModelPort {
    const { models, store } = this.#environment;
    const { sessionId, settings } = this.#parts;
    return models.open(profile, {
      settings: settings.models,
      sessionId,
      state: {
        read: (key) => store.readModelState(sessionId, key),
        write: (key, value) => store.writeModelState(sessionId, { key, value }),
      },
    });
  }

  /**
   * Makes another profile the active one and says what to publish.
   *
   * @throws CrabcodeError MODEL_NOT_FOUND, PROFILE_UNUSABLE
   */
  switchTo(profile: string): ModelChangeEvent {
    const { sessionId } = this.#parts;
    if (!this.#list().some(({ name }) => name === profile)) {
      throw new CrabcodeError("MODEL_NOT_FOUND", "no model profile has that name", { sessionId });
    }
    this.#active = this.open(profile);
    this.#profile = profile;
    this.#environment.store.setModelProfile(sessionId, profile);
    return { type: "model_change", session_id: sessionId, model_profile: profile };
  }

  #list(): ModelListing["models"] {
    return this.#environment.models.list(this.#parts.settings.models);
  }
}
