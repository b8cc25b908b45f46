import type { CodeModeRuntime } from "@trivium/code-mode-runtime";
import type { Clock, Logger } from "@trivium/core";
import type { RequestGate } from "../request-gate.ts";

/** What every V1 connection of a host works with. None of it is owned by the connection. */
export interface ConnectionDeps {
  readonly runtime: CodeModeRuntime;
  readonly clock: Clock;
  readonly logger: Logger;
  /** Bounds the requests in progress, of all connections together. */
  readonly gate: RequestGate;
}
