import type { Requirements } from "./requirement.ts";

export const crabcodeStatusRequirements = {
  "status:turn-error": {
    source: "docs/crabcode.md: Sessions",
    behaviour: "A turn that ends with an error event has the status OK.",
  },
  "status:cancelled": {
    source: "crabcode.proto: rpc SendMessage",
    behaviour: "A cancelled call is CANCELLED, and its turn ends as interrupted.",
  },
  "status:client-deadline": {
    source: "crabcode.proto: rpc WaitAgent",
    behaviour: "A call whose deadline passes is DEADLINE_EXCEEDED; the agent it waited for goes on.",
  },
  "status:every-method": {
    source: "crabcode.proto: service CrabCodeService",
    behaviour: "Every method is there, and none answers an empty request with a status that is never used.",
  },
} satisfies Requirements;

/** One row of the table of statuses: what brings it about, and what shows that. */
export interface StatusRow {
  readonly when: string;
  /** `case <name>` and `conversation <name>` of the vectors, `scenario <id>`, or `test <words of its name>`. */
  readonly shownBy: readonly string[];
}

/** Every status of the contract. */
export const crabcodeStatusTable: Readonly<Record<string, StatusRow>> = {
  OK: {
    when: "success, also of a turn that ended with an error event",
    shownBy: [
      "scenario status:turn-error",
      "case bearer_ok",
      "conversation provider_error_ends_turn_cleanly",
    ],
  },
  CANCELLED: { when: "the client cancelled", shownBy: ["scenario status:cancelled"] },
  INVALID_ARGUMENT: {
    when: "the request is wrong by itself",
    shownBy: [
      "case empty_text",
      "case empty_prompt",
      "case negative_max_turns",
      "case wait_without_ids",
      "case mode_unknown",
      "case model_unknown",
      "case unknown_profile",
      "case unknown_subagent_type",
      "case permission_blank_id",
      "conversation ask_user_invalid_then_cancelled",
      "case malformed_session_id",
      "case cursor_malformed",
      "case idempotency_key_too_long",
      "case idempotency_key_other_request",
      "case permission_ambiguous",
    ],
  },
  DEADLINE_EXCEEDED: {
    when: "the time of WaitAgent or of the client is over",
    shownBy: ["case wait_timeout", "scenario status:client-deadline"],
  },
  NOT_FOUND: {
    when: "session, agent or question are not there",
    shownBy: [
      "case unknown_session_SendMessage",
      "case agent_of_other_session",
      "case permission_not_pending",
    ],
  },
  PERMISSION_DENIED: { when: "a folder outside the roots", shownBy: ["case cwd_outside_roots"] },
  RESOURCE_EXHAUSTED: {
    when: "a limit is reached, or a stream is not read",
    shownBy: [
      "case agent_limit",
      "case queue_full",
      "case text_too_large",
      "test of a turn is cut off two minutes after its end",
    ],
  },
  FAILED_PRECONDITION: {
    when: "the state does not allow it",
    shownBy: [
      "case permission_already_answered",
      "case permission_expired",
      "case cwd_mismatch",
      "case model_without_key",
      "case script_profile_without_testing",
    ],
  },
  UNAVAILABLE: {
    when: "the server or the session is closing",
    shownBy: ["case shutting_down", "test ends subscriptions with UNAVAILABLE when the runtime closes"],
  },
  UNAUTHENTICATED: {
    when: "no credentials, or wrong ones",
    shownBy: ["case no_credentials", "case wrong_basic_user"],
  },
  INTERNAL: {
    when: "a fault of the server itself",
    shownBy: ["test tells nothing about a fault inside the server but logs it"],
  },
  "ABORTED, DATA_LOSS, UNKNOWN, ALREADY_EXISTS, OUT_OF_RANGE": {
    when: "never",
    shownBy: ["scenario status:every-method"],
  },
  UNIMPLEMENTED: { when: "never", shownBy: ["scenario status:every-method"] },
};
