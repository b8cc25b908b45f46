import type { Clock, IdSource, Logger } from "@trivium/core";
import type { Conversation } from "../conversation/conversation.ts";
import type { SessionEventBus } from "../events/session-event-bus.ts";
import type { ModelCatalogue } from "../ports/model-port.ts";
import type { OpenToolbox } from "../ports/toolbox-port.ts";
import type { SessionSettings } from "../settings/session-settings.ts";
import type { AgentStore } from "../store/agent-store.ts";
import type { OperationStore } from "../store/operation-store.ts";
import type { SessionStore } from "../store/session-store.ts";

/** Oldest events that go when a session has more. */
export interface RetentionLimits {
  readonly maxEvents: number;
  readonly maxBytes: number;
  readonly maxAgeMs: number;
}

/** What all sessions of a runtime share. */
export interface SessionEnvironment {
  readonly models: ModelCatalogue;
  readonly openToolbox: OpenToolbox;
  readonly store: SessionStore;
  readonly clock: Clock;
  readonly ids: IdSource;
  readonly logger: Logger;
  readonly version: string;
  readonly userFolder: string | undefined;
  readonly maxQueuedMessages: number;
  readonly rejoinGraceMs: number;
  readonly retention: RetentionLimits;
}

/** What one session is made of; it owns all of it. */
export interface SessionParts {
  readonly sessionId: string;
  readonly cwd: string;
  readonly settings: SessionSettings;
  readonly bus: SessionEventBus;
  readonly conversation: Conversation;
  readonly operations: OperationStore;
  readonly agents: AgentStore;
  /** Folder of the transcripts; undefined: nothing is kept on disk. */
  readonly transcripts: string | undefined;
  /** Profile a client chose in an earlier life of the session. */
  readonly modelProfile: string | undefined;
}
