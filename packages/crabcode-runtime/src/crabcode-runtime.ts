import type { Clock, EventLogStore, IdSource, Logger } from "@trivium/core";
import type {
  AcceptedAgentInput,
  AgentInput,
  AgentListing,
  AgentReference,
  AgentSnapshot,
  CancelledAgent,
  SpawnAgentInput,
  SpawnedAgent,
  WaitAgentInput,
} from "./agents/agent-types.ts";
import type { CheckpointCalls } from "./checkpoints/checkpoint.ts";
import type { CodeCellsPort } from "./ports/code-cells-port.ts";
import type { OpenMcp } from "./ports/mcp-port.ts";
import type { ModelCatalogue, ModelProfileEntry } from "./ports/model-port.ts";
import type { RunProgram } from "./ports/program-port.ts";
import type { SkillPort } from "./ports/skill-port.ts";
import type { OpenToolbox } from "./ports/toolbox-port.ts";
import type { WebSearchPort } from "./ports/web-search-port.ts";
import type { CrabcodeQuestions, CrabcodeSessions } from "./session-calls/session-types.ts";
import type { SessionGate } from "./sessions/session-gate.ts";
import type { SessionReference, SessionSelector } from "./sessions/session-selector.ts";

/** What a runtime is made of. */
export interface CrabcodeRuntimeOptions {
  /**
   * Folder of sessions and transcripts, made with mode 0700. Absent: everything is kept in memory. One process
   * per folder.
   */
  readonly dataDir?: string;
  /** Where events are kept. The runtime closes the logs it opens, the owner closes the store. */
  readonly eventLogs: EventLogStore;
  readonly models: ModelCatalogue;
  readonly openToolbox: OpenToolbox;
  /** Runs git. Absent: checkpoints keep no files, and nothing is said of repositories. */
  readonly runProgram?: RunProgram;
  /** Reads skills. Absent: there are none. */
  readonly skills?: SkillPort;
  /** Reaches MCP servers. Absent: their tools are not offered. */
  readonly openMcp?: OpenMcp;
  /** Runs programs. Absent: `Code` and `CodeWait` are not offered. */
  readonly codeCells?: CodeCellsPort;
  /** Searches the web. Absent: `WebSearch` is not offered. */
  readonly webSearch?: WebSearchPort | undefined;
  /** Absolute folders that sessions may work in, at least one; the first is the default session's. */
  readonly workspaceRoots: readonly string[];
  readonly settings?: SettingsSources;
  readonly clock?: Clock;
  readonly ids?: IdSource;
  readonly logger?: Logger;
  /** Release of the server, for `server.connected`. */
  readonly version?: string;
  /** Take up the default session of the last start. Default true. */
  readonly resumesDefaultSession?: boolean;
  /** Messages that may wait behind a running turn of one session. Default 8. */
  readonly maxQueuedMessages?: number;
  /** How long a turn with an idempotency key outlives a lost connection. Default 30 000. */
  readonly rejoinGraceMs?: number;
  readonly eventRetention?: {
    readonly maxEvents?: number;
    readonly maxBytes?: number;
    readonly maxAgeMs?: number;
  };
}

/** Where the settings of sessions come from, lowest first; the files of `cwd` lie between `user` and `flagFile`. */
export interface SettingsSources {
  /** `models` and `defaultModel` of the server's configuration, already with the keys of `settings.json`. */
  readonly base?: Readonly<Record<string, unknown>>;
  /** Folder of `settings.json` and `managed-settings.json` of the user. Absent: none is read. */
  readonly userFolder?: string;
  /** Home of the user, for `.claude/mcp_servers.json`. Absent: it is not read. */
  readonly homeFolder?: string;
  /** One more settings file, above the ones of the project. */
  readonly flagFile?: string;
}

/** A message for the main loop. */
export interface SendMessageInput {
  readonly session: SessionSelector;
  readonly text: string;
  /** Model requests the turn may make; 0 is no limit. */
  readonly maxTurns?: number;
  /** 1 to 128 printable ASCII characters. */
  readonly idempotencyKey?: string;
  /** False: nobody answers questions; they are settled as `auto` at once. Default true. */
  readonly isInteractive?: boolean;
  /** True: the turn goes on when its stream is lost or cancelled. */
  readonly isDetached?: boolean;
  /**
   * Ends this call. The turn is interrupted, unless detached. With an idempotency key, a reason of kind
   * `unavailable` (the connection was lost, not the call cancelled) waits for the resend first. One of kind
   * `resourceExhausted` (the client does not read) leaves the turn running. A call that is ended before it has its
   * place in the queue rejects with the reason, and nothing runs.
   */
  readonly signal?: AbortSignal;
  /** Called as soon as the session is found, before it is loaded, which may take a while. */
  readonly onPlace?: (place: MessagePlace) => void;
}

/** Where a message belongs. */
export interface MessagePlace {
  readonly sessionId: string;
  /** 32 hexadecimal characters, known before the turn starts. */
  readonly operationId: string;
  /** True when the call joined an earlier one through its idempotency key. */
  readonly isReplay: boolean;
}

/** One event of a stream, encoded once for all streams. */
export interface StreamEvent {
  readonly type: string;
  /** UTF-8 JSON object that has `type` too. */
  readonly payloadJson: string;
}

/** An admitted message: its stream ends after `turn_complete`. */
export interface MessageStream extends MessagePlace {
  /**
   * To be read by one reader. Leaving it early is a cancel. A call that must wait gets a heartbeat first.
   *
   * @throws CrabcodeError READER_STALLED when it is not read to its end 120 s after the turn ended.
   */
  readonly events: AsyncIterable<StreamEvent>;
}

/** What a subscription asks for. */
export interface SubscribeInput {
  /** `sessionId` "" subscribes to all sessions, those made later included. */
  readonly session: SessionSelector;
  /** Value of `trivium-after-seq`, unparsed. */
  readonly afterSeq?: string;
  /** Ends the subscription, without an error; one that is not registered by then rejects with the reason. */
  readonly signal?: AbortSignal;
  /** Called as soon as the one session is found, before it is loaded, which may take a while. */
  readonly onSession?: (sessionId: string) => void;
}

/** A live subscription; its first event is `server.connected`. */
export interface Subscription {
  /** Absent for all sessions. */
  readonly sessionId: string | undefined;
  /** Ends when the session closes; throws SHUTTING_DOWN when the runtime does. */
  readonly events: AsyncIterable<StreamEvent>;
}

/** An answer to a permission question. */
export interface PermissionAnswer {
  readonly sessionId: string;
  readonly toolUseId: string;
  /** Absent or "": the main loop, or the one agent that asks. */
  readonly agentId?: string;
  readonly isAllowed: boolean;
  /** Ignored unless allowed. */
  readonly alwaysAllow?: boolean;
  /** For the model, on a refusal; at most 4 000 characters. */
  readonly feedback?: string;
}

/** An answer to a choice question. */
export interface ChoiceAnswer {
  readonly sessionId: string;
  readonly toolUseId: string;
  readonly agentId?: string;
  readonly selected: readonly string[];
  readonly isCancelled?: boolean;
}

/** Answer of {@link CrabcodeRuntime.listModels}. */
export interface ModelListing extends SessionReference {
  readonly models: readonly ModelProfileEntry[];
  /** Active profile of the session. */
  readonly currentModel: string;
}

/** Answer of {@link CrabcodeRuntime.interruptTurn}. */
export interface InterruptResult extends SessionReference {
  /** False: nothing was running. */
  readonly isInterrupted: boolean;
  /** The interrupted operation; "" when none. */
  readonly operationId: string;
}

/**
 * Sessions, their turns, questions and events. Every method resolves a session first and throws
 * {@link CrabcodeError} when it cannot admit the call; what happens inside a turn is told by events only.
 */
export interface CrabcodeRuntime extends AsyncDisposable {
  /** Places in a conversation to return to, with the files as they were. */
  readonly checkpoints: CheckpointCalls;
  /** Making, finding, naming, archiving and deleting sessions, their history and their tools. */
  readonly sessions: CrabcodeSessions;
  /** What waits for an answer. */
  readonly questions: CrabcodeQuestions;
  /** True once {@link CrabcodeRuntime.close} was called. */
  readonly isClosing: boolean;
  /** Admits a message: resolves when it has its place in the queue. */
  sendMessage(input: SendMessageInput): Promise<MessageStream>;
  /** Registers a subscription before it resolves. */
  subscribe(input: SubscribeInput): Promise<Subscription>;
  respondPermission(answer: PermissionAnswer): Promise<SessionReference>;
  respondChoice(answer: ChoiceAnswer): Promise<SessionReference>;
  listModels(sessionId: string): Promise<ModelListing>;
  /** Takes effect with the next turn. */
  switchModel(sessionId: string, profile: string): Promise<SessionReference>;
  /** @param mode `agent` or `plan` */
  switchMode(sessionId: string, mode: string): Promise<SessionReference>;
  /** Interrupts what runs in the main loop; resolves after its `turn_complete` was published. */
  interruptTurn(sessionId: string): Promise<InterruptResult>;
  /** Registers an agent, which runs when it has a slot. */
  spawnAgent(input: SpawnAgentInput): Promise<SpawnedAgent>;
  getAgent(reference: AgentReference): Promise<AgentSnapshot>;
  /** Newest first, at most 500. */
  listAgents(sessionId: string): Promise<AgentListing>;
  /** Stops an agent and what it spawned; resolves when they have ended. */
  cancelAgent(reference: AgentReference): Promise<CancelledAgent>;
  /** Resolves with the first of the agents that has ended; rejects with WAIT_TIMEOUT. */
  waitAgent(input: WaitAgentInput): Promise<AgentSnapshot>;
  /** Gives an agent that has ended more to do; resolves when it is queued. */
  sendAgentInput(input: AgentInput): Promise<AcceptedAgentInput>;
  /**
   * Lets calls that are not made in a session through its permissions, and asks its clients about them.
   *
   * @throws CrabcodeError SESSION_NOT_FOUND
   */
  openGate(sessionId: string): Promise<SessionGate>;
  /** Unloads a session: interrupts, stops agents, settles questions, ends its subscriptions. It stays stored. */
  closeSession(sessionId: string): Promise<void>;
  /**
   * Stops admitting, lets turns finish for `drainMs` (default 0), interrupts the rest, waits for what is written, ends
   * every stream.
   */
  close(options?: { readonly drainMs?: number }): Promise<void>;
}
