import { create } from "@bufbuild/protobuf";
import { type Timestamp, timestampFromMs } from "@bufbuild/protobuf/wkt";
import type {
  HistoryMessage,
  MessageBlock,
  SessionInfo,
  SessionState as State,
} from "@trivium/crabcode-runtime";
import {
  type Message,
  MessageBlockSchema,
  MessageOrigin,
  MessageRole,
  MessageSchema,
  type Session,
  SessionSchema,
  SessionState,
  ToolResultBlockSchema,
  ToolUseBlockSchema,
  type MessageBlock as WireBlock,
} from "@trivium/proto/crabcode-sessions";
import { metadataKeys } from "./metadata.ts";

/** What a Timestamp may hold. */
const MIN_TIME_MS = Date.parse("0001-01-01T00:00:00Z");
const MAX_TIME_MS = Date.parse("9999-12-31T23:59:59.999Z");

const wireState: Readonly<Record<State, SessionState>> = {
  idle: SessionState.IDLE,
  busy: SessionState.BUSY,
  stored: SessionState.STORED,
  archived: SessionState.ARCHIVED,
  closing: SessionState.CLOSING,
};

const wireOrigin: Readonly<Record<NonNullable<HistoryMessage["message"]["origin"]>, MessageOrigin>> = {
  partial: MessageOrigin.PARTIAL,
  "task-notification": MessageOrigin.TASK_NOTIFICATION,
  "compact-summary": MessageOrigin.COMPACT_SUMMARY,
  skill: MessageOrigin.SKILL,
};

/** A session in the form of the contract; the header of its call, if there is one, names it. */
export function toWireSession(session: SessionInfo, responseHeader?: Headers): Session {
  responseHeader?.set(metadataKeys.sessionId, session.sessionId);
  const { gitBranch } = session;
  return create(SessionSchema, {
    sessionId: session.sessionId,
    title: session.title,
    cwd: session.cwd,
    state: wireState[session.state],
    mode: session.mode,
    modelProfile: session.modelProfile,
    createdAt: timestampFromMs(session.createdAtMs),
    updatedAt: timestampFromMs(session.updatedAtMs),
    messageCount: session.messageCount,
    activeAgentCount: session.activeAgentCount,
    pendingQuestionCount: session.pendingQuestionCount,
    epoch: session.epoch,
    headSeq: BigInt(session.headSeq),
    firstUserMessage: session.firstUserMessage,
    tokensUsed: BigInt(session.tokensUsed),
    ...(gitBranch !== undefined && { gitBranch }),
    defaultSession: session.isDefault,
  });
}

/** A message in the form of the contract. */
export function toWireMessage({
  messageId,
  message,
  timestamp,
  replyTo,
  operationId,
  index,
}: HistoryMessage): Message {
  const createdAt = toTimestamp(timestamp);
  return create(MessageSchema, {
    messageId,
    role: message.role === "user" ? MessageRole.USER : MessageRole.ASSISTANT,
    blocks: message.content.map(toWireBlock),
    ...(createdAt !== undefined && { createdAt }),
    origin: message.origin === undefined ? MessageOrigin.UNSPECIFIED : wireOrigin[message.origin],
    ...(replyTo !== undefined && { replyToMessageId: replyTo }),
    ...(operationId !== undefined && { operationId }),
    index,
  });
}

/** Undefined for a text that is no time, and for a year of more than four digits, which JSON has no way to say. */
export function toTimestamp(text: string | undefined): Timestamp | undefined {
  const atMs = Date.parse(text ?? "");
  return atMs >= MIN_TIME_MS && atMs <= MAX_TIME_MS ? timestampFromMs(atMs) : undefined;
}

function toWireBlock(block: MessageBlock): WireBlock {
  return create(MessageBlockSchema, { block: wireBlock(block) });
}

function wireBlock(block: MessageBlock): WireBlock["block"] {
  switch (block.type) {
    case "text":
      return { case: "text", value: block.text };
    case "thinking":
      return { case: "thinking", value: block.thinking };
    case "tool_use":
      return {
        case: "toolUse",
        value: create(ToolUseBlockSchema, {
          toolUseId: block.id,
          toolName: block.name,
          inputJson: JSON.stringify(block.input),
        }),
      };
    case "tool_result":
      return {
        case: "toolResult",
        value: create(ToolResultBlockSchema, {
          toolUseId: block.tool_use_id,
          content: block.content,
          error: block.is_error,
        }),
      };
  }
}
