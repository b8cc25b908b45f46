import type { CodeModeRuntime, CodeModeSession } from "@trivium/code-mode-runtime";
import { TriviumError } from "@trivium/core";
import { requireUuid } from "./identifiers.ts";
import type { ServerToolsPort } from "./server-tools.ts";

/** What the service is made of. It owns none of it. */
export interface CodeModeServiceDeps {
  readonly runtime: CodeModeRuntime;
  /** Unary requests in progress, of all clients together; more are refused. Default 1024. */
  readonly maxRequests?: number;
  /** Tools of this server that programs may call. Absent: there are none. */
  readonly serverTools?: ServerToolsPort | undefined;
}

/**
 * The session a request names. It is the first check of every RPC that names one.
 *
 * @throws {@link TriviumError} `invalidInput` for what is no UUID, `notFound` for a session that is not open.
 */
export function requireSession(runtime: CodeModeRuntime, sessionId: string): CodeModeSession {
  const session = runtime.session(requireUuid("session_id", sessionId));
  if (session === undefined) throw new TriviumError("notFound", `no session has the session_id ${sessionId}`);
  return session;
}
