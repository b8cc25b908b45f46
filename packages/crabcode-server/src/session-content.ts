import { create } from "@bufbuild/protobuf";
import type { HandlerContext } from "@connectrpc/connect";
import type { CrabcodeSessions } from "@trivium/crabcode-runtime";
import {
  type CompactSessionRequest,
  type CompactSessionResponse,
  CompactSessionResponseSchema,
  type InterruptTurnRequest,
  type InterruptTurnResponse,
  InterruptTurnResponseSchema,
  type ListMessagesRequest,
  type ListMessagesResponse,
  ListMessagesResponseSchema,
  type ListSessionToolsRequest,
  type ListSessionToolsResponse,
  ListSessionToolsResponseSchema,
} from "@trivium/proto/crabcode-sessions";
import { CallSignal } from "./call-signal.ts";
import { metadataKeys } from "./metadata.ts";
import { toWireMessage } from "./wire-session.ts";

type ResponseContext = Pick<HandlerContext, "responseHeader">;

/** ListMessages: a page of a history. */
export async function listMessages(
  sessions: Pick<CrabcodeSessions, "listMessages">,
  { sessionId, agentId, pageSize, pageToken, newestFirst, projected }: ListMessagesRequest,
  { responseHeader }: ResponseContext,
): Promise<ListMessagesResponse> {
  const page = await sessions.listMessages({
    sessionId,
    ...(agentId !== undefined && { agentId }),
    pageSize,
    pageToken,
    isNewestFirst: newestFirst,
    isProjected: projected,
  });
  responseHeader.set(metadataKeys.sessionId, page.sessionId);
  return create(ListMessagesResponseSchema, {
    messages: page.messages.map(toWireMessage),
    nextPageToken: page.nextPageToken,
    totalSize: BigInt(page.totalSize),
  });
}

/** InterruptTurn: answers when the turn has ended. */
export async function interruptTurn(
  sessions: Pick<CrabcodeSessions, "interrupt">,
  { sessionId, operationId }: InterruptTurnRequest,
  { responseHeader }: ResponseContext,
): Promise<InterruptTurnResponse> {
  const result = await sessions.interrupt(sessionId, operationId);
  responseHeader.set(metadataKeys.sessionId, result.sessionId);
  return create(InterruptTurnResponseSchema, {
    interrupted: result.isInterrupted,
    operationId: result.operationId,
  });
}

/** CompactSession: summarises between two turns. A call that ends takes its compaction with it. */
export async function compactSession(
  sessions: Pick<CrabcodeSessions, "compact">,
  { sessionId, instructions }: CompactSessionRequest,
  { signal, responseHeader }: Pick<HandlerContext, "signal" | "responseHeader">,
): Promise<CompactSessionResponse> {
  using call = new CallSignal(signal);
  const result = await sessions.compact({ sessionId, instructions, signal: call.signal });
  responseHeader.set(metadataKeys.sessionId, result.sessionId);
  const { messageCountBefore, messageCountAfter } = result;
  return create(CompactSessionResponseSchema, { messageCountBefore, messageCountAfter });
}

/** ListSessionTools: what a model of the session is offered. */
export async function listSessionTools(
  sessions: Pick<CrabcodeSessions, "listTools">,
  { sessionId, subagentType }: ListSessionToolsRequest,
  { responseHeader }: ResponseContext,
): Promise<ListSessionToolsResponse> {
  const listing = await sessions.listTools(sessionId, subagentType);
  responseHeader.set(metadataKeys.sessionId, listing.sessionId);
  return create(ListSessionToolsResponseSchema, {
    tools: listing.tools.map((tool) => ({
      name: tool.name,
      description: tool.description,
      inputSchemaJson: JSON.stringify(tool.inputSchema),
      readOnly: tool.isReadOnly,
      concurrencySafe: tool.isConcurrencySafe,
      enabled: tool.isEnabled,
      source: tool.source,
    })),
  });
}
