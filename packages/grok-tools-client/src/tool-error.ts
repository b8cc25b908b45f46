import { type ErrorKind, TriviumError } from "@trivium/core";
import { ErrorCode, type ToolError } from "@trivium/proto/grok-tools";
import { type JsonValue, parseJsonField } from "@trivium/rpc";

const brand: unique symbol = Symbol.for("trivium.tool-call-error");

/** The failure of one tool call, as the tool reports it. Branch on {@link ToolCallError.code}. */
export class ToolCallError extends TriviumError {
  override readonly name: string = "ToolCallError";
  readonly code: ErrorCode;
  /** Whether the same call may succeed later. */
  readonly isRetryable: boolean;
  /** The next step, as an instruction to the model. */
  readonly suggestion: string | undefined;
  /** Absolute path of the file concerned. */
  readonly filePath: string | undefined;
  /** From 1. */
  readonly lineNumber: number | undefined;
  /** `details_json`; for a logical failure its `output` is the complete output of the tool. */
  readonly details: JsonValue;

  constructor(error: ToolError) {
    super(kindOfCode(error.code), error.message);
    this.code = error.code;
    this.isRetryable = error.retryable;
    this.suggestion = error.suggestion;
    this.filePath = error.filePath;
    this.lineNumber = error.lineNumber;
    this.details = error.detailsJson === undefined ? {} : parseJsonField("details_json", error.detailsJson);
    Object.defineProperty(this, brand, { value: true });
  }

  static override isInstance(value: unknown): value is ToolCallError {
    return value instanceof Error && brand in value;
  }
}

/** Codes that servers of a later version may add count as internal. */
function kindOfCode(code: ErrorCode): ErrorKind {
  if (code === ErrorCode.TIMEOUT) return "deadlineExceeded";
  if (code === ErrorCode.CANCELLED) return "cancelled";
  if (code === ErrorCode.NOT_IMPLEMENTED) return "unimplemented";
  if (code === ErrorCode.PERMISSION_DENIED) return "permissionDenied";
  if (code === ErrorCode.RATE_LIMITED) return "resourceExhausted";
  if (code === ErrorCode.TOOL_NOT_FOUND || code === ErrorCode.FILE_NOT_FOUND) return "notFound";
  if (code === ErrorCode.FILE_ALREADY_EXISTS) return "alreadyExists";
  if (code >= ErrorCode.INVALID_INPUT && code <= ErrorCode.INVALID_TOOL_NAME) return "invalidInput";
  if (code >= ErrorCode.TOOL_DISABLED && code <= ErrorCode.NO_MATCHES) return "failedPrecondition";
  return "internal";
}
