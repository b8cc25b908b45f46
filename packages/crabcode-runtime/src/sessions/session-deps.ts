import type { Clock, IdSource, Logger } from "@trivium/core";
import type { CheckpointEnvironment } from "../checkpoints/session-checkpoints.ts";
import type { Conversation } from "../conversation/conversation.ts";
import type { SessionEventBus } from "../events/session-event-bus.ts";
import type { CodeCellsPort } from "../ports/code-cells-port.ts";
import type { OpenMcp } from "../ports/mcp-port.ts";
import type { ModelCatalogue } from "../ports/model-port.ts";
import type { RunProgram } from "../ports/program-port.ts";
import type { SkillPort } from "../ports/skill-port.ts";
import type { OpenToolbox } from "../ports/toolbox-port.ts";
import type { WebSearchPort } from "../ports/web-search-port.ts";
import type { SessionSettings } from "../settings/session-settings.ts";
import type { AgentStore } from "../store/agent-store.ts";
import type { OperationStore } from "../store/operation-store.ts";
import type { OnSessionRemoved } from "../store/session-removal.ts";
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
  readonly runProgram: RunProgram | undefined;
  readonly skills: SkillPort | undefined;
  readonly openMcp: OpenMcp | undefined;
  readonly codeCells: CodeCellsPort | undefined;
  readonly webSearch: WebSearchPort | undefined;
  readonly store: SessionStore;
  readonly checkpoints: CheckpointEnvironment;
  /** Called when a session was deleted, to remove what is kept of it elsewhere. */
  readonly onSessionDeleted: OnSessionRemoved[];
  readonly clock: Clock;
  readonly ids: IdSource;
  readonly logger: Logger;
  readonly version: string;
  readonly userFolder: string | undefined;
  readonly homeFolder: string | undefined;
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
