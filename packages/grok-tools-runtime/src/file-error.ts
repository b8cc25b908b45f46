import { ErrorCode } from "@trivium/proto/grok-tools";

/** The contract's code for a failed file operation, and the reason for `details_json` where it has one. */
export interface FileFailure {
  readonly code: ErrorCode;
  readonly reason?: "is_a_directory" | "not_a_directory" | undefined;
}

/**
 * What a failed file operation means. Errors that are not from the file system are EXECUTION_FAILED, as is every
 * cause that the contract does not name.
 */
export function fileFailureOf(cause: unknown): FileFailure {
  switch (systemCodeOf(cause) ?? "") {
    case "ENOENT":
      return { code: ErrorCode.FILE_NOT_FOUND };
    case "EISDIR":
      return { code: ErrorCode.FILE_NOT_FOUND, reason: "is_a_directory" };
    case "ENOTDIR":
      return { code: ErrorCode.FILE_NOT_FOUND, reason: "not_a_directory" };
    case "EACCES":
    case "EPERM":
    case "EROFS":
      return { code: ErrorCode.PERMISSION_DENIED };
    case "EEXIST":
      return { code: ErrorCode.FILE_ALREADY_EXISTS };
    case "ENAMETOOLONG":
    case "ELOOP":
    case "ERR_INVALID_ARG_VALUE":
      return { code: ErrorCode.INVALID_INPUT };
    default:
      return { code: ErrorCode.EXECUTION_FAILED };
  }
}

/** `ENOENT` and the like; undefined when the error is not one of the operating system's. */
export function systemCodeOf(cause: unknown): string | undefined {
  if (!(cause instanceof Error) || !("code" in cause)) return undefined;
  return typeof cause.code === "string" ? cause.code : undefined;
}
