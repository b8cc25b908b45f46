import { connect } from "node:http2";
import type { LookupFunction } from "node:net";
import { abortReason, TriviumError } from "@trivium/core";

/**
 * Finds out whether somebody speaks HTTP/2 at an address: a connection alone does not tell, and a call would be one
 * that the service counts. The connection is closed again.
 *
 * @throws {@link TriviumError} `unavailable` when nobody does; the reason of the signal.
 */
export function probePeer(
  url: URL,
  { lookup, signal }: { lookup: LookupFunction; signal: AbortSignal },
): Promise<void> {
  return new Promise((resolve, reject) => {
    if (signal.aborted) {
      reject(abortReason(signal));
      return;
    }
    const session = connect(url, { lookup });
    const end = (settle: () => void): void => {
      signal.removeEventListener("abort", onAbort);
      settle();
      session.destroy();
    };
    const onAbort = (): void => end(() => reject(abortReason(signal)));
    signal.addEventListener("abort", onAbort, { once: true });
    session.once("remoteSettings", () => end(resolve));
    session.on("error", (cause) => end(() => reject(unreachable(url, cause))));
    session.once("close", () => end(() => reject(unreachable(url, undefined))));
  });
}

function unreachable({ host, protocol }: URL, cause: unknown): TriviumError {
  const code =
    cause instanceof Error && "code" in cause && typeof cause.code === "string" ? cause.code : undefined;
  const why = code === undefined ? "the connection was closed" : code;
  return new TriviumError("unavailable", `no gRPC service answers at ${protocol}//${host} (${why})`, {
    cause,
  });
}
