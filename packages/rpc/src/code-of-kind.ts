import { Code } from "@connectrpc/connect";
import type { ErrorKind } from "@trivium/core";

/** The one status code of each kind of error. */
export const codeOfKind: Readonly<Record<ErrorKind, Code>> = {
  invalidInput: Code.InvalidArgument,
  notFound: Code.NotFound,
  alreadyExists: Code.AlreadyExists,
  failedPrecondition: Code.FailedPrecondition,
  permissionDenied: Code.PermissionDenied,
  unauthenticated: Code.Unauthenticated,
  resourceExhausted: Code.ResourceExhausted,
  outOfRange: Code.OutOfRange,
  aborted: Code.Aborted,
  cancelled: Code.Canceled,
  deadlineExceeded: Code.DeadlineExceeded,
  unavailable: Code.Unavailable,
  unimplemented: Code.Unimplemented,
  dataLoss: Code.DataLoss,
  internal: Code.Internal,
};
