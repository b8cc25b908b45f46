import type {
  ChoiceRequestEvent,
  CrabcodeEventEnvelope,
  PermissionRequestEvent,
} from "@trivium/proto/crabcode-events";
import type { Message } from "../conversation/message.ts";
import type { InterruptResult } from "../crabcode-runtime.ts";
import type { PageRequest } from "../paging/page-token.ts";
import type { SessionReference } from "../sessions/session-selector.ts";

/** Where a session is, and what it does. `closing`: on its way out of memory. */
export type SessionState = "idle" | "busy" | "stored" | "archived" | "closing";

/** A session as it is now. */
export interface SessionInfo extends SessionReference {
  readonly title: string;
  /** Absolute. */
  readonly cwd: string;
  readonly state: SessionState;
  readonly mode: "agent" | "plan";
  /** Active profile; of one that is not loaded the last one, "" before the first load. */
  readonly modelProfile: string;
  readonly createdAtMs: number;
  /** Last message or change of the title. */
  readonly updatedAtMs: number;
  readonly messageCount: number;
  /** Agents that wait or run. */
  readonly activeAgentCount: number;
  readonly pendingQuestionCount: number;
  /** "" before the first load. */
  readonly epoch: string;
  /** Last published event; 0 before the first. */
  readonly headSeq: number;
  /** At most 500 characters. */
  readonly firstUserMessage: string;
  readonly tokensUsed: number;
  /** Branch of the folder when the session was made. */
  readonly gitBranch: string | undefined;
  /** True for the one that an empty id means. */
  readonly isDefault: boolean;
}

/** A session to be made. "" or absent: the default of each. */
export interface CreateSessionInput {
  /** Default: a new UUID. */
  readonly sessionId?: string;
  /** Absolute. Default: the first workspace root. */
  readonly cwd?: string;
  /** Default: from the first message. */
  readonly title?: string;
  /** Default: what the settings say. */
  readonly modelProfile?: string;
  /** `agent` (the default) or `plan`. */
  readonly mode?: string;
  /** 1 to 128 printable ASCII characters; a second call with it gets the answer of the first. */
  readonly idempotencyKey?: string;
}

/** Answer of {@link CrabcodeSessions.create}. */
export interface CreatedSession {
  readonly session: SessionInfo;
  /** True when an earlier call with the key made it. */
  readonly isReplay: boolean;
}

/** Which sessions; all conditions must hold. */
export interface ListSessionsInput extends PageRequest {
  /** Empty: all but archived ones. */
  readonly states?: readonly SessionState[];
  /** "": any; else exactly this folder. */
  readonly cwd?: string;
  /** Words that all occur in the title or in messages, whatever their case; up to 1 000 characters. */
  readonly query?: string;
}

/** The session that changed last comes first. */
export interface SessionPage {
  readonly sessions: readonly SessionInfo[];
  /** "" at the end. */
  readonly nextPageToken: string;
  /** Sessions that fit now. */
  readonly totalSize: number;
}

/** Answer of {@link CrabcodeSessions.resume}. */
export interface ResumedSession {
  readonly session: SessionInfo;
  /** Agents of an earlier process that this call found and stopped. */
  readonly stoppedAgentCount: number;
  /** This call found a turn that an earlier process had not finished. */
  readonly isTurnRecovered: boolean;
}

/** Whether a busy session may be interrupted; otherwise it refuses with SESSION_BUSY. */
export interface CloseOptions {
  readonly interrupt?: boolean;
}

/** Which messages. */
export interface ListMessagesInput extends PageRequest {
  /** "": the default session, or the one that owns the agent. */
  readonly sessionId: string;
  /** An agent instead of the main loop. */
  readonly agentId?: string;
  readonly isNewestFirst?: boolean;
  /** What a model would be sent instead of everything that was said. */
  readonly isProjected?: boolean;
}

/** A message with its place. */
export interface HistoryMessage {
  readonly messageId: string;
  readonly message: Message;
  /** RFC 3339; undefined when it was never noted. */
  readonly timestamp: string | undefined;
  /** The notification that it answers. */
  readonly replyTo: string | undefined;
  readonly operationId: string | undefined;
  /** From 0 in the transcript; -1 for one that only a compaction made. */
  readonly index: number;
}

/** A page ends early rather than hold more than 4 MiB. */
export interface MessagePage extends SessionReference {
  readonly messages: readonly HistoryMessage[];
  readonly nextPageToken: string;
  readonly totalSize: number;
}

/** A tool as a model of the session is told of it. */
export interface SessionTool {
  readonly name: string;
  readonly description: string;
  readonly inputSchema: Readonly<Record<string, unknown>>;
  readonly isReadOnly: boolean;
  readonly isConcurrencySafe: boolean;
  /** Offered in the mode the session is in. */
  readonly isEnabled: boolean;
  /** `builtin`, `mcp:` and the name of a server, or `skill`. */
  readonly source: string;
}

/** Answer of {@link CrabcodeSessions.listTools}. */
export interface SessionToolListing extends SessionReference {
  readonly tools: readonly SessionTool[];
}

/** What to compact. */
export interface CompactInput {
  readonly sessionId: string;
  /** At most 4 000 characters. */
  readonly instructions?: string;
  readonly signal?: AbortSignal;
}

/** Messages that a model is sent, counted. */
export interface CompactResult extends SessionReference {
  readonly messageCountBefore: number;
  readonly messageCountAfter: number;
}

/**
 * Everything about sessions beyond talking in them. `get` and the methods that begin with `list` load nothing, and work
 * while the runtime is closing. A refusal changes nothing.
 */
export interface CrabcodeSessions {
  create(input: CreateSessionInput): Promise<CreatedSession>;
  get(sessionId: string): Promise<SessionInfo>;
  list(input: ListSessionsInput): Promise<SessionPage>;
  /** Loads a stored or archived session. One of upstream that is not here yet is copied first. */
  resume(sessionId: string): Promise<ResumedSession>;
  /** Sets the title for good. */
  rename(sessionId: string, title: string): Promise<SessionInfo>;
  /** Closes a session and archives it. */
  archive(sessionId: string, options?: CloseOptions): Promise<SessionInfo>;
  unarchive(sessionId: string): Promise<SessionInfo>;
  /** Unloads a session; it stays stored. */
  close(sessionId: string, options?: CloseOptions): Promise<SessionReference>;
  /** Removes an archived session with everything that is kept of it. */
  delete(sessionId: string): Promise<SessionReference>;
  listMessages(input: ListMessagesInput): Promise<MessagePage>;
  /** Interrupts what runs in the main loop, or only that operation; resolves after its `turn_complete`. */
  interrupt(sessionId: string, operationId?: string): Promise<InterruptResult>;
  /** Waits for the turn lock, then summarises. */
  compact(input: CompactInput): Promise<CompactResult>;
  /** @param subagentType "": the main loop */
  listTools(sessionId: string, subagentType: string): Promise<SessionToolListing>;
}

/** Which questions. */
export interface ListQuestionsInput extends PageRequest {
  /** Absent: all sessions; "": the default session. */
  readonly sessionId?: string;
  /** Absent: both. */
  readonly kind?: "permission" | "choice";
}

/** How a question was asked. */
export type PendingQuestionEvent = (PermissionRequestEvent | ChoiceRequestEvent) & CrabcodeEventEnvelope;

/** A question that waits; the event that asked it, with its envelope. */
export interface PendingQuestion extends SessionReference {
  readonly event: PendingQuestionEvent;
  /** Ids from the root agent down to the one that asks; empty for the main loop. */
  readonly agentPath: readonly string[];
}

/** Answer of {@link CrabcodeQuestions.list}: the longest waiting first. */
export interface QuestionPage {
  /** The session of the request; absent for all. */
  readonly sessionId: string | undefined;
  readonly questions: readonly PendingQuestion[];
  readonly nextPageToken: string;
}

/** The questions that wait. They are answered through the runtime itself. */
export interface CrabcodeQuestions {
  list(input: ListQuestionsInput): Promise<QuestionPage>;
}
