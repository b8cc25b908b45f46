import type { MessageInitShape } from "@bufbuild/protobuf";
import { Code, ConnectError } from "@connectrpc/connect";
import { FinalizeConfigError, type Violation } from "@trivium/grok-tools-runtime";
import {
  FinalizeConfigValidationDetailsSchema,
  type FinalizeConfigViolationSchema,
} from "@trivium/proto/grok-tools";

/** What to throw for a refused configuration: INVALID_ARGUMENT with all violations as a detail. Other errors pass. */
export function toRefusalStatus(thrown: unknown): unknown {
  if (!FinalizeConfigError.isInstance(thrown)) return thrown;
  const value = { violations: thrown.violations.map(toWireViolation) };
  const detail = { desc: FinalizeConfigValidationDetailsSchema, value };
  return new ConnectError(thrown.message, Code.InvalidArgument, undefined, [detail], thrown);
}

function toWireViolation(violation: Violation): MessageInitShape<typeof FinalizeConfigViolationSchema> {
  const { entryIndex, fieldPath, expected, badValueJson, ...always } = violation;
  return {
    ...always,
    ...(entryIndex !== undefined && { entryIndex }),
    ...(fieldPath !== undefined && { fieldPath }),
    ...(expected !== undefined && { expected }),
    ...(badValueJson !== undefined && { badValueJson }),
  };
}
