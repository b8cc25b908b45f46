import { ErrorCode } from "@trivium/proto/grok-tools";
import { accessFailureOf } from "../../../files/access-failure.ts";
import type { JsonObject } from "../../../json.ts";
import type { ToolResult } from "../../../tool.ts";

/** Why a patch was not applied. */
export interface PatchFailure {
  readonly kind: "failure";
  readonly variant: "ParseError" | "ApplicationError" | "EmptyPatch";
  readonly code: ErrorCode;
  /** Model-facing. */
  readonly text: string;
  readonly reason?: string | undefined;
  readonly suggestion?: string | undefined;
  /** Absolute. */
  readonly filePath?: string | undefined;
  /** In that file, from 1. */
  readonly lineNumber?: number | undefined;
  readonly details?: JsonObject | undefined;
}

/** The answer for a patch that was not applied. */
export function patchFailureResult({ variant, text, kind: _kind, ...failure }: PatchFailure): ToolResult {
  return { output: { type: "ApplyPatch", [variant]: text }, promptText: text, failure };
}

/** A failure with a file; `text` without the word that begins every failure. */
export function fileFailure(failure: Omit<PatchFailure, "kind" | "variant">): PatchFailure {
  return { ...failure, kind: "failure", variant: "ApplicationError", text: `Error: ${failure.text}` };
}

/**
 * What a failed access to a file means.
 *
 * @throws the error itself when it is the reason of `signal`.
 */
export function accessFailure(thrown: unknown, named: string, signal: AbortSignal): PatchFailure {
  const { code, reason } = accessFailureOf(thrown, signal);
  const isChanged = code === ErrorCode.FILE_EXTERNALLY_MODIFIED;
  return fileFailure({
    filePath: named,
    code,
    reason,
    text: `${named} cannot be patched: ${whyNot(thrown, reason, code)}`,
    suggestion: isChanged ? "read the file again and repeat the patch" : undefined,
  });
}

function whyNot(thrown: unknown, reason: string | undefined, code: ErrorCode): string {
  if (reason === "outside_roots") return "it is outside the allowed folders";
  if (reason === "is_a_directory") return "it is a directory";
  if (reason === "not_a_directory") return "a folder of its path is no directory";
  if (code === ErrorCode.PERMISSION_DENIED) return "permission denied";
  return thrown instanceof Error ? thrown.message : "unknown cause";
}

export function missingFile(named: string): PatchFailure {
  return fileFailure({ filePath: named, code: ErrorCode.FILE_NOT_FOUND, text: `${named} does not exist` });
}
