import { type Timestamp, timestampDate } from "@bufbuild/protobuf/wkt";
import { TriviumError } from "@trivium/core";
import {
  type Message,
  type MessageBlock,
  MessageOrigin,
  MessageRole,
  type Session,
  SessionState,
} from "@trivium/proto/crabcode-sessions";

/** Where a session is, and what it does. */
export type SessionStateName = "idle" | "busy" | "stored" | "archived" | "closing";

/** A session at one moment. */
export interface SessionSnapshot {
  readonly sessionId: string;
  readonly title: string;
  readonly cwd: string;
  /** `unknown`: a state of a newer server. */
  readonly state: SessionStateName | "unknown";
  /** `agent` or `plan`. */
  readonly mode: string;
  readonly modelProfile: string;
  readonly createdAt: Date;
  /** Last message or change of the title. */
  readonly updatedAt: Date;
  readonly messageCount: number;
  /** Agents that wait or run. */
  readonly activeAgentCount: number;
  readonly pendingQuestionCount: number;
  /** With `headSeq` the cursor `<epoch>:<headSeq>` of a subscription. "" before the first load. */
  readonly epoch: string;
  readonly headSeq: number;
  readonly firstUserMessage: string;
  readonly tokensUsed: number;
  readonly gitBranch: string | undefined;
  /** The one that no `sessionId` means. */
  readonly isDefault: boolean;
}

/** One block of a message. `unknown`: a kind of a newer server. */
export type SessionMessageBlock =
  | { readonly type: "text"; readonly text: string }
  | { readonly type: "thinking"; readonly text: string }
  | {
      readonly type: "tool-use";
      readonly toolUseId: string;
      readonly toolName: string;
      /** The arguments; undefined when they are no JSON. */
      readonly input: unknown;
    }
  | {
      readonly type: "tool-result";
      readonly toolUseId: string;
      readonly content: string;
      readonly isError: boolean;
    }
  | { readonly type: "image"; readonly mediaType: string; readonly data: Uint8Array }
  | { readonly type: "unknown" };

/** A message of a history. */
export interface SessionMessage {
  readonly messageId: string;
  /** Results of tools come with the role `user`. */
  readonly role: "user" | "assistant" | "system";
  readonly blocks: readonly SessionMessageBlock[];
  readonly createdAt: Date | undefined;
  /** Undefined for an ordinary message. */
  readonly origin: "partial" | "task-notification" | "compact-summary" | "skill" | undefined;
  /** The notification that it answers. */
  readonly replyToMessageId: string | undefined;
  readonly operationId: string | undefined;
  /** From 0 in the transcript; -1 for one that only a compaction made. */
  readonly index: number;
}

const stateNames: Readonly<Record<number, SessionStateName>> = {
  [SessionState.IDLE]: "idle",
  [SessionState.BUSY]: "busy",
  [SessionState.STORED]: "stored",
  [SessionState.ARCHIVED]: "archived",
  [SessionState.CLOSING]: "closing",
};

const originNames: Readonly<Record<number, SessionMessage["origin"]>> = {
  [MessageOrigin.PARTIAL]: "partial",
  [MessageOrigin.TASK_NOTIFICATION]: "task-notification",
  [MessageOrigin.COMPACT_SUMMARY]: "compact-summary",
  [MessageOrigin.SKILL]: "skill",
};

/** The wire number of a state. */
export function toWireState(name: SessionStateName): SessionState {
  const wire = { idle: SessionState.IDLE, busy: SessionState.BUSY, stored: SessionState.STORED };
  return { ...wire, archived: SessionState.ARCHIVED, closing: SessionState.CLOSING }[name];
}

/** @throws {@link TriviumError} `internal` when there is none, or a count is not safe as a number. */
export function toSession(session: Session | undefined): SessionSnapshot {
  if (session === undefined) throw new TriviumError("internal", "the server answered without a session");
  return {
    sessionId: session.sessionId,
    title: session.title,
    cwd: session.cwd,
    state: stateNames[session.state] ?? "unknown",
    mode: session.mode,
    modelProfile: session.modelProfile,
    createdAt: toDate(session.createdAt) ?? new Date(0),
    updatedAt: toDate(session.updatedAt) ?? new Date(0),
    messageCount: session.messageCount,
    activeAgentCount: session.activeAgentCount,
    pendingQuestionCount: session.pendingQuestionCount,
    epoch: session.epoch,
    headSeq: toNumber("head_seq", session.headSeq),
    firstUserMessage: session.firstUserMessage,
    tokensUsed: toNumber("tokens_used", session.tokensUsed),
    gitBranch: session.gitBranch,
    isDefault: session.defaultSession,
  };
}

export function toMessage(message: Message): SessionMessage {
  const roles: Readonly<Record<number, SessionMessage["role"]>> = {
    [MessageRole.ASSISTANT]: "assistant",
    [MessageRole.SYSTEM]: "system",
  };
  return {
    messageId: message.messageId,
    role: roles[message.role] ?? "user",
    blocks: message.blocks.map(toBlock),
    createdAt: toDate(message.createdAt),
    origin: originNames[message.origin],
    replyToMessageId: message.replyToMessageId,
    operationId: message.operationId,
    index: message.index,
  };
}

/** @throws {@link TriviumError} `internal` when the count is not safe as a number. */
export function toNumber(field: string, count: bigint): number {
  const value = Number(count);
  if (Number.isSafeInteger(value)) return value;
  throw new TriviumError("internal", `${field} is ${count}, more than a number can hold exactly`);
}

export function toDate(at: Timestamp | undefined): Date | undefined {
  return at === undefined ? undefined : timestampDate(at);
}

/** The value of a JSON field; undefined when it is none. */
export function parsed(json: string): unknown {
  try {
    return JSON.parse(json);
  } catch {
    return undefined;
  }
}

function toBlock({ block }: MessageBlock): SessionMessageBlock {
  switch (block.case) {
    case "text":
      return { type: "text", text: block.value };
    case "thinking":
      return { type: "thinking", text: block.value };
    case "toolUse": {
      const { toolUseId, toolName, inputJson } = block.value;
      return { type: "tool-use", toolUseId, toolName, input: parsed(inputJson) };
    }
    case "toolResult": {
      const { toolUseId, content, error } = block.value;
      return { type: "tool-result", toolUseId, content, isError: error };
    }
    case "image":
      return { type: "image", mediaType: block.value.mediaType, data: block.value.data };
    case undefined:
      return { type: "unknown" };
  }
}
