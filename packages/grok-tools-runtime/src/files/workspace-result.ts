import { ErrorCode } from "@trivium/proto/grok-tools";
import { accessFailureOf } from "./access-failure.ts";

/** Why an operation on a file had no result, for callers that have their own words for it. */
export interface WorkspaceFailure {
  readonly kind: "failure";
  readonly code: WorkspaceFailureCode;
  /** One sentence for a person or a model. */
  readonly message: string;
  /** Absolute, where it is known. */
  readonly path?: string;
  /** How often the text occurs; with `several-matches`. */
  readonly matchCount?: number;
  /** Lines of the file; with `past-the-end`. */
  readonly totalLines?: number;
}

export type WorkspaceFailureCode =
  | "not-found"
  | "not-a-file"
  | "is-a-directory"
  | "binary"
  | "past-the-end"
  | "no-match"
  | "several-matches"
  | "stale"
  | "too-large"
  | "denied"
  | "invalid"
  | "other";

/** A result, or why there is none. */
export type WorkspaceResult<Value> = (Value & { readonly kind: "ok" }) | WorkspaceFailure;

/**
 * The failure that a thrown error of this package means.
 *
 * @throws the error itself when it is the reason of `signal`.
 */
export function toWorkspaceFailure(thrown: unknown, path: string, signal: AbortSignal): WorkspaceFailure {
  const { code, reason } = accessFailureOf(thrown, signal);
  const message = thrown instanceof Error ? thrown.message : `${path} cannot be used`;
  const failureCode = codeOfReason[reason ?? ""] ?? codeOfError.get(code) ?? "other";
  const text = failureCode === "not-found" ? `${path} does not exist` : message;
  return { kind: "failure", code: failureCode, message: text, path };
}

const codeOfReason: Readonly<Record<string, WorkspaceFailureCode>> = {
  is_a_directory: "is-a-directory",
  not_a_directory: "not-found",
  not_a_regular_file: "not-a-file",
  too_large: "too-large",
  outside_roots: "denied",
};

const codeOfError: ReadonlyMap<ErrorCode, WorkspaceFailureCode> = new Map([
  [ErrorCode.FILE_NOT_FOUND, "not-found"],
  [ErrorCode.PERMISSION_DENIED, "denied"],
  [ErrorCode.FILE_EXTERNALLY_MODIFIED, "stale"],
  [ErrorCode.FILE_ALREADY_EXISTS, "invalid"],
  [ErrorCode.INVALID_INPUT, "invalid"],
]);
