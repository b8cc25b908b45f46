import { type ErrorKind, TriviumError } from "@trivium/core";
import { ErrorCode } from "@trivium/proto/grok-tools";
import type { JsonValue } from "./json.ts";

const brand: unique symbol = Symbol.for("trivium.tool-error");

/** Optional parts of a {@link ToolError}. */
export interface ToolErrorOptions extends ErrorOptions {
  /** Internal kind for `details_json.kind`; default: the usual kind of the code. */
  readonly detailKind?: string | undefined;
  /** Further keys of `details_json`, for example `field` or `reason`. */
  readonly details?: Readonly<Record<string, JsonValue>> | undefined;
  /** Default: true for TIMEOUT and FILE_EXTERNALLY_MODIFIED, else false. */
  readonly retryable?: boolean | undefined;
  /** The next step, as an instruction to the model. */
  readonly suggestion?: string | undefined;
  /** Absolute path of the file concerned. */
  readonly filePath?: string | undefined;
  /** Line in that file, from 1. */
  readonly lineNumber?: number | undefined;
}

/**
 * A failure of one tool call that the model can read and react to. It becomes `ExecuteToolResponse.error`.
 *
 * For a failure that has an output variant of its own (file missing, no match) return a result with `failure`
 * instead of throwing, so that clients which want the variant can get it.
 */
export class ToolError extends TriviumError {
  override readonly name: string = "ToolError";
  readonly code: ErrorCode;
  readonly retryable: boolean;
  readonly suggestion: string | undefined;
  readonly filePath: string | undefined;
  readonly lineNumber: number | undefined;
  /** Content of `details_json`. */
  readonly details: Readonly<Record<string, JsonValue>>;

  constructor(code: ErrorCode, message: string, options: ToolErrorOptions = {}) {
    super(errorKindOf(code), message, options.cause === undefined ? undefined : { cause: options.cause });
    this.code = code;
    this.retryable = options.retryable ?? retryableCodes.has(code);
    this.suggestion = options.suggestion;
    this.filePath = options.filePath;
    this.lineNumber = options.lineNumber;
    this.details = { kind: options.detailKind ?? detailKindOf(code), ...options.details };
    Object.defineProperty(this, brand, { value: true });
  }

  static override isInstance(value: unknown): value is ToolError {
    return value instanceof Error && brand in value;
  }

  /** INVALID_INPUT about one parameter, named as the caller sees it (`context.parameterName`). */
  static invalidField(field: string, message: string, options: ToolErrorOptions = {}): ToolError {
    return new ToolError(ErrorCode.INVALID_INPUT, message, {
      ...options,
      details: { field, ...options.details },
    });
  }

  /** MISSING_REQUIRED_FIELD for a parameter, named as the caller sees it. */
  static missingField(field: string, message: string = `missing required parameter \`${field}\``): ToolError {
    return new ToolError(ErrorCode.MISSING_REQUIRED_FIELD, message, { details: { field } });
  }
}

const retryableCodes: ReadonlySet<ErrorCode> = new Set([
  ErrorCode.TIMEOUT,
  ErrorCode.FILE_EXTERNALLY_MODIFIED,
]);

/** Enums are open on the wire, so a number without a name is possible. */
function errorKindOf(code: ErrorCode): ErrorKind {
  return (partsOfCode[code] ?? broken).errorKind;
}

function detailKindOf(code: ErrorCode): string {
  return (partsOfCode[code] ?? broken).detailKind;
}

const invalid = { errorKind: "invalidInput", detailKind: "invalid_arguments" } as const;
const logicalConflict = { errorKind: "failedPrecondition", detailKind: "logical" } as const;
const broken = { errorKind: "internal", detailKind: "custom" } as const;

const partsOfCode: Readonly<Record<ErrorCode, { errorKind: ErrorKind; detailKind: string }>> = {
  [ErrorCode.UNSPECIFIED]: broken,
  [ErrorCode.INVALID_INPUT]: invalid,
  [ErrorCode.MISSING_REQUIRED_FIELD]: invalid,
  [ErrorCode.INVALID_TOOL_NAME]: { errorKind: "invalidInput", detailKind: "invalid_tool_name" },
  [ErrorCode.TOOL_DISABLED]: { errorKind: "failedPrecondition", detailKind: "tool_disabled" },
  [ErrorCode.TOOL_NOT_FOUND]: { errorKind: "notFound", detailKind: "not_found" },
  [ErrorCode.FILE_NOT_FOUND]: { errorKind: "notFound", detailKind: "logical" },
  [ErrorCode.FILE_NOT_READ]: logicalConflict,
  [ErrorCode.FILE_EXTERNALLY_MODIFIED]: { errorKind: "aborted", detailKind: "logical" },
  [ErrorCode.FILE_ALREADY_EXISTS]: { errorKind: "alreadyExists", detailKind: "logical" },
  [ErrorCode.PERMISSION_DENIED]: { errorKind: "permissionDenied", detailKind: "permission_denied" },
  [ErrorCode.MULTIPLE_MATCHES]: logicalConflict,
  [ErrorCode.NO_MATCHES]: logicalConflict,
  [ErrorCode.EXECUTION_FAILED]: { errorKind: "internal", detailKind: "execution" },
  [ErrorCode.TIMEOUT]: { errorKind: "deadlineExceeded", detailKind: "timeout" },
  [ErrorCode.CANCELLED]: { errorKind: "cancelled", detailKind: "cancelled" },
  [ErrorCode.RATE_LIMITED]: { errorKind: "resourceExhausted", detailKind: "rate_limited" },
  [ErrorCode.INTERNAL]: broken,
  [ErrorCode.NOT_IMPLEMENTED]: { errorKind: "unimplemented", detailKind: "not_implemented" },
};
