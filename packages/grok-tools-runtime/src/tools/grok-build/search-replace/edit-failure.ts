import type { ErrorCode } from "@trivium/proto/grok-tools";
import type { ToolResult } from "../../../tool.ts";

/** Why nothing was written, before the version of the tool decides how it is said. */
export interface EditFailure {
  readonly kind: "failure";
  readonly variant:
    | "FileAlreadyExists"
    | "MultipleMatchesFound"
    | "NoMatchesFound"
    | "InvalidInput"
    | "FileNotFound"
    | "FilenameTooLong";
  readonly code: ErrorCode;
  /** Model-facing. */
  readonly text: string;
  /** Generic text of the legacy version; default: `text`. */
  readonly legacyText?: string | undefined;
  readonly reason?: string | undefined;
  readonly suggestion?: string | undefined;
  readonly lineNumber?: number | undefined;
}

/** The answer for a refused edit. The legacy version knows one variant; the code stays the cause's. */
export function editFailureResult(failure: EditFailure, path: string, isLegacy: boolean): ToolResult {
  const { variant, code, reason, suggestion, lineNumber } = failure;
  const text = isLegacy ? (failure.legacyText ?? failure.text) : failure.text;
  const payload = !isLegacy && variant === "NoMatchesFound" ? { message: text, file_path: path } : text;
  return {
    output: { type: "SearchReplace", [isLegacy ? "InvalidInput" : variant]: payload },
    promptText: text,
    failure: { code, reason, filePath: path, ...(!isLegacy && { suggestion, lineNumber }) },
  };
}
