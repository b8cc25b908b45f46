import { ErrorCode } from "@trivium/proto/grok-tools";
import type { ToolResult } from "../../../tool.ts";

/** Why a read failed, before the version of the tool decides how it is said. */
export interface ReadFailure {
  readonly kind: "failure";
  readonly variant:
    | "FileNotFound"
    | "IsADirectory"
    | "PermissionDenied"
    | "FileTooLarge"
    | "FileReadError"
    | "ImageSizeError";
  readonly code: ErrorCode;
  /** Model-facing. */
  readonly text: string;
  readonly reason?: string | undefined;
  readonly suggestion?: string | undefined;
}

/** A failure that is in the content of the file. */
export function contentFailure(text: string, reason?: string): ReadFailure {
  return { kind: "failure", variant: "FileReadError", code: ErrorCode.INVALID_INPUT, text, reason };
}

/** The answer for a failed read. The legacy version knows one variant and one text; the code stays the cause's. */
export function readFailureResult(failure: ReadFailure, path: string, isLegacy: boolean): ToolResult {
  const { code, reason, suggestion } = failure;
  const variant = isLegacy ? "FileReadError" : failure.variant;
  const text = isLegacy ? `Failed to read file: ${path}` : failure.text;
  return {
    output: { type: "ReadFile", [variant]: text },
    promptText: text,
    failure: { code, reason, filePath: path, ...(!isLegacy && { suggestion }) },
  };
}
