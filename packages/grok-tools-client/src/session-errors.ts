import { Code, ConnectError } from "@connectrpc/connect";
import { TriviumError } from "@trivium/core";
import {
  FinalizeConfigValidationDetailsSchema,
  type FinalizeConfigViolation,
} from "@trivium/proto/grok-tools";
import { fromConnectError } from "@trivium/rpc";

const brands = {
  notFinalized: Symbol.for("trivium.client.not-finalized-error"),
  finalizeConfig: Symbol.for("trivium.client.finalize-config-error"),
  streamIntegrity: Symbol.for("trivium.client.stream-integrity-error"),
} as const;

/** The session has no tools yet: finalize it first. */
export class NotFinalizedError extends TriviumError {
  override readonly name: string = "NotFinalizedError";

  constructor(cause: TriviumError) {
    super("failedPrecondition", cause.message, { cause });
    Object.defineProperty(this, brands.notFinalized, { value: true });
  }

  static override isInstance(value: unknown): value is NotFinalizedError {
    return value instanceof Error && brands.notFinalized in value;
  }
}

/** The tool configuration was refused. The session is as before. */
export class FinalizeConfigError extends TriviumError {
  override readonly name: string = "FinalizeConfigError";
  /** Every reason of the first check that failed. */
  readonly violations: readonly FinalizeConfigViolation[];

  constructor(cause: TriviumError, violations: readonly FinalizeConfigViolation[]) {
    super("invalidInput", cause.message, { cause });
    this.violations = violations;
    Object.defineProperty(this, brands.finalizeConfig, { value: true });
  }

  static override isInstance(value: unknown): value is FinalizeConfigError {
    return value instanceof Error && brands.finalizeConfig in value;
  }
}

/** The slices of a streamed answer do not fit together. */
export class StreamIntegrityError extends TriviumError {
  override readonly name: string = "StreamIntegrityError";

  constructor(message: string) {
    super("dataLoss", message);
    Object.defineProperty(this, brands.streamIntegrity, { value: true });
  }

  static override isInstance(value: unknown): value is StreamIntegrityError {
    return value instanceof Error && brands.streamIntegrity in value;
  }
}

/** What this package throws for whatever an RPC throws. */
export function toSessionError(thrown: unknown): TriviumError {
  const error = fromConnectError(thrown);
  const { cause } = error;
  if (!(cause instanceof ConnectError)) return error;
  const [details] = cause.findDetails(FinalizeConfigValidationDetailsSchema);
  if (details !== undefined) return new FinalizeConfigError(error, details.violations);
  // The message of the precondition names the step that is missing.
  const isMissingStep = cause.rawMessage.includes("FinalizeToolConfigRequest");
  const isNotFinalized = isMissingStep && !cause.rawMessage.includes("already");
  return cause.code === Code.FailedPrecondition && isNotFinalized ? new NotFinalizedError(error) : error;
}
