import { create, toBinary } from "@bufbuild/protobuf";
import { Code, ConnectError } from "@connectrpc/connect";
import { FinalizeConfigError, type Violation } from "@trivium/grok-tools-runtime";
import {
  FinalizeConfigValidationDetailsSchema,
  type FinalizeConfigViolation,
  FinalizeConfigViolationSchema,
} from "@trivium/proto/grok-tools";

/** What to throw for a refused configuration: INVALID_ARGUMENT with all violations as a detail. Other errors pass. */
export function toRefusalStatus(thrown: unknown): unknown {
  if (!FinalizeConfigError.isInstance(thrown)) return thrown;
  const value = { violations: withinTrailers(thrown.violations.map(toWireViolation)) };
  const detail = { desc: FinalizeConfigValidationDetailsSchema, value };
  return new ConnectError(thrown.message, Code.InvalidArgument, undefined, [detail], thrown);
}

/** Peers accept about 8 KiB of trailers, where the details travel in base64. */
const MAX_DETAIL_BYTES = 5_600;

/** As many of the first violations as fit. */
function withinTrailers(violations: readonly FinalizeConfigViolation[]): FinalizeConfigViolation[] {
  let bytes = 0;
  return violations.filter((violation) => {
    bytes += toBinary(FinalizeConfigViolationSchema, violation).length;
    return bytes <= MAX_DETAIL_BYTES;
  });
}

function toWireViolation(violation: Violation): FinalizeConfigViolation {
  const { entryIndex, fieldPath, expected, badValueJson, ...always } = violation;
  return create(FinalizeConfigViolationSchema, {
    ...always,
    ...(entryIndex !== undefined && { entryIndex }),
    ...(fieldPath !== undefined && { fieldPath }),
    ...(expected !== undefined && { expected }),
    ...(badValueJson !== undefined && { badValueJson }),
  });
}
