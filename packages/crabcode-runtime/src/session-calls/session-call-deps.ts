import type { DatabaseSync } from "node:sqlite";
import type { EventLogStore } from "@trivium/core";
import type { SettingsSources } from "../crabcode-runtime.ts";
import type { Session } from "../sessions/session.ts";
import type { SessionEnvironment } from "../sessions/session-deps.ts";
import type { SessionRegistry } from "../sessions/session-registry.ts";
import type { CreateRequests } from "../store/create-requests.ts";
import type { SessionIndex } from "../store/session-index.ts";
import type { SessionRemoval } from "../store/session-removal.ts";

/** What the calls about sessions work with. */
export interface SessionCallDeps {
  readonly registry: SessionRegistry;
  readonly environment: SessionEnvironment;
  readonly settings: SettingsSources;
  readonly database: DatabaseSync;
  readonly index: SessionIndex;
  readonly requests: CreateRequests;
  readonly removal: SessionRemoval;
  readonly eventLogs: EventLogStore;
  /** Undefined: nothing is kept on disk. */
  readonly transcripts: string | undefined;
  /** Absolute, links resolved. */
  readonly workspaceRoots: readonly string[];
  /** The session that owns an agent, loaded or stored. */
  readonly ownerOf: (agentId: string) => string | undefined;
  /** Unloads a session and ends what reads its events. */
  readonly unload: (session: Session) => Promise<void>;
}
