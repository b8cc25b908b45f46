import { type ErrorKind, TriviumError } from "@trivium/core";

/** Kind that belongs to each machine-readable reason. */
const kindOfReason = {
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
  IDEMPOTENCY_KEY_INVALID: "invalidInput",
  IDEMPOTENCY_MISMATCH: "invalidInput",
  NOT_IMPLEMENTED: "unimplemented",
} as const satisfies Record<string, ErrorKind>;

/** Machine-readable reason of a refusal; travels as the reason of an ErrorInfo with domain `crabcode`. */
export type CrabcodeErrorReason = keyof typeof kindOfReason;

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
