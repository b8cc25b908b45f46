import type { Logger } from "@trivium/core";
import type { Delegates } from "./delegates.ts";

/** The client, as the sessions of its connection see it. */
export interface SessionPeer {
  /** Unanswered calls of all sessions of the connection. */
  readonly delegates: Delegates;
  readonly logger: Logger;
  /** Bytes the client has yet to read. */
  readonly unsentBytes: number;
  /** Messages about the life of requests and cells. */
  sendControl(json: string): void;
  /** Tool calls and what takes calls back; the same lane as the other one where there is only one. */
  sendBulk(json: string): void;
}
