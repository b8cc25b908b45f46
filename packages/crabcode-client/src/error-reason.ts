import { ConnectError } from "@connectrpc/connect";
import { ErrorInfoSchema } from "@trivium/proto/error-details";

/** Of the contract's own service, and of ours. */
const DOMAINS: ReadonlySet<string> = new Set(["crabcode", "trivium"]);

/**
 * The machine-readable reason of an error that this client threw, such as `QUEUE_FULL` or `SESSION_NOT_FOUND`.
 * Undefined when the server gave none, for example because the connection broke.
 */
export function crabcodeErrorReason(error: unknown): string | undefined {
  const cause = error instanceof ConnectError ? error : error instanceof Error ? error.cause : undefined;
  if (!(cause instanceof ConnectError)) return undefined;
  return cause.findDetails(ErrorInfoSchema).find(({ domain }) => DOMAINS.has(domain))?.reason;
}
