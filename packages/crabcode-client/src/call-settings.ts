import { fromConnectError } from "@trivium/rpc";

/** How a call that may create a session does so. */
export interface SessionOptions {
  /** Absent: the server's default session; for a subscription: all sessions. */
  readonly sessionId?: string | undefined;
  /** Make the session if there is none of that id. */
  readonly create?: boolean | undefined;
  /** Absolute folder of a session to be made, inside the server's workspace. */
  readonly cwd?: string | undefined;
}

/** Options of the short calls. */
export interface CallSettings {
  readonly sessionId?: string | undefined;
  readonly signal?: AbortSignal | undefined;
}

/** The metadata with which a call may create its session. */
export function sessionHeaders({ create, cwd }: SessionOptions): Headers {
  const headers = new Headers();
  if (create !== true) return headers;
  headers.set("crabcode-create-session", "1");
  if (cwd !== undefined) headers.set("crabcode-cwd", encodeURI(cwd));
  return headers;
}

/** Call options with a signal, if there is one. */
export function withSignal(signal: AbortSignal | undefined): { signal?: AbortSignal } {
  return signal === undefined ? {} : { signal };
}

/** The response, or the failure as an error of ours. */
export async function mapped<Response>(response: Promise<Response>): Promise<Response> {
  try {
    return await response;
  } catch (error) {
    throw fromConnectError(error);
  }
}
