import { type ErrorKind, TriviumError } from "@trivium/core";

/**
 * Machine-readable reason of a refusal; travels as the reason of an ErrorInfo with domain `crabcode`.
 */
export type CrabcodeErrorReason =
  | "SESSION_NOT_FOUND"
  | "AGENT_NOT_FOUND"
  | "REQUEST_NOT_PENDING"
  | "REQUEST_ALREADY_ANSWERED"
  | "REQUEST_AMBIGUOUS"
  | "MODEL_NOT_FOUND"
  | "PROFILE_NOT_FOUND"
  | "PROFILE_UNUSABLE"
  | "MODE_INVALID"
  | "AGENT_LIMIT"
  | "AGENT_RUNNING"
  | "CALLBACK_UNDELIVERED"
  | "QUEUE_FULL"
  | "READER_STALLED"
  | "TOO_LARGE"
  | "WAIT_TIMEOUT"
  | "SHUTTING_DOWN"
  | "EMPTY_TEXT"
  | "FIELD_INVALID"
  | "SUBAGENT_TYPE_UNKNOWN"
  | "SELECTION_INVALID"
  | "CWD_FORBIDDEN"
  | "CWD_MISMATCH"
  | "SESSION_ID_INVALID"
  | "CURSOR_INVALID"
  | "SESSION_EXISTS"
  | "SESSION_BUSY"
  | "NOT_ARCHIVED"
  | "PAGE_TOKEN_INVALID"
  | "CHECKPOINT_NOT_FOUND"
  | "AGENTS_RUNNING"
  | "NO_SNAPSHOT"
  | "NOTHING_TO_COMPACT"
  | "SUMMARY_FAILED"
  | "IDEMPOTENCY_KEY_INVALID"
  | "IDEMPOTENCY_MISMATCH";

/** Kind that belongs to each reason. */
const kindOfReason: Record<CrabcodeErrorReason, ErrorKind> = {
  SESSION_NOT_FOUND: "notFound",
  AGENT_NOT_FOUND: "notFound",
  REQUEST_NOT_PENDING: "notFound",
  REQUEST_ALREADY_ANSWERED: "failedPrecondition",
  REQUEST_AMBIGUOUS: "invalidInput",
  MODEL_NOT_FOUND: "invalidInput",
  PROFILE_NOT_FOUND: "invalidInput",
  PROFILE_UNUSABLE: "failedPrecondition",
  MODE_INVALID: "invalidInput",
  AGENT_LIMIT: "resourceExhausted",
  AGENT_RUNNING: "failedPrecondition",
  CALLBACK_UNDELIVERED: "failedPrecondition",
  QUEUE_FULL: "resourceExhausted",
  READER_STALLED: "resourceExhausted",
  TOO_LARGE: "resourceExhausted",
  WAIT_TIMEOUT: "deadlineExceeded",
  SHUTTING_DOWN: "unavailable",
  EMPTY_TEXT: "invalidInput",
  FIELD_INVALID: "invalidInput",
  SUBAGENT_TYPE_UNKNOWN: "invalidInput",
  SELECTION_INVALID: "invalidInput",
  CWD_FORBIDDEN: "permissionDenied",
  CWD_MISMATCH: "failedPrecondition",
  SESSION_ID_INVALID: "invalidInput",
  CURSOR_INVALID: "invalidInput",
  SESSION_EXISTS: "alreadyExists",
  SESSION_BUSY: "failedPrecondition",
  NOT_ARCHIVED: "failedPrecondition",
  PAGE_TOKEN_INVALID: "invalidInput",
  CHECKPOINT_NOT_FOUND: "notFound",
  AGENTS_RUNNING: "failedPrecondition",
  NO_SNAPSHOT: "failedPrecondition",
  NOTHING_TO_COMPACT: "failedPrecondition",
  SUMMARY_FAILED: "unavailable",
  IDEMPOTENCY_KEY_INVALID: "invalidInput",
  IDEMPOTENCY_MISMATCH: "invalidInput",
};

/** What is known about a refusal beside its reason. */
export interface CrabcodeErrorDetails {
  /** The resolved session, when it was known already. */
  readonly sessionId?: string;
  /** Wire name of the field at fault; with `FIELD_INVALID`. */
  readonly field?: string;
  readonly cause?: unknown;
}

/** A call that could not be admitted or carried out. Failures inside a turn are events, never this. */
export class CrabcodeError extends TriviumError {
  override readonly name: string = "CrabcodeError";
  readonly reason: CrabcodeErrorReason;
  readonly field: string | undefined;
  readonly sessionId: string | undefined;

  constructor(reason: CrabcodeErrorReason, message: string, details: CrabcodeErrorDetails = {}) {
    super(kindOfReason[reason], message, details.cause === undefined ? undefined : { cause: details.cause });
    this.reason = reason;
    this.field = details.field;
    this.sessionId = details.sessionId;
  }

  /** Guards a caught value; true for errors of another copy of this package too. */
  static override isInstance(value: unknown): value is CrabcodeError {
    return TriviumError.isInstance(value) && value.name === "CrabcodeError";
  }
}
