import { create } from "@bufbuild/protobuf";
import type { HandlerContext } from "@connectrpc/connect";
import type { AgentSnapshot, CrabcodeRuntime } from "@trivium/crabcode-runtime";
import {
  type AgentSnapshotProto,
  AgentSnapshotProtoSchema,
  type CancelAgentRequest,
  type CancelAgentResponse,
  CancelAgentResponseSchema,
  type GetAgentRequest,
  type ListAgentsRequest,
  type ListAgentsResponse,
  ListAgentsResponseSchema,
  type SpawnAgentRequest,
  type SpawnAgentResponse,
  SpawnAgentResponseSchema,
  type WaitAgentRequest,
} from "@trivium/proto/crabcode";
import { CallSignal } from "./call-signal.ts";
import { metadataKeys, sessionSelector } from "./metadata.ts";

type ResponseContext = Pick<HandlerContext, "responseHeader">;
type CallContext = Pick<HandlerContext, "signal" | "requestHeader" | "responseHeader">;

/** SpawnAgent: registers an agent; it does not wait until the agent runs. */
export async function spawnAgent(
  runtime: Pick<CrabcodeRuntime, "spawnAgent">,
  request: SpawnAgentRequest,
  { signal, requestHeader, responseHeader }: CallContext,
): Promise<SpawnAgentResponse> {
  using call = new CallSignal(signal);
  const { prompt, subagentType, name, modelProfile, callback } = request;
  const idempotencyKey = requestHeader.get(metadataKeys.idempotencyKey);
  const { sessionId, agentId, isReplay } = await runtime.spawnAgent({
    session: sessionSelector(request.sessionId, requestHeader),
    prompt,
    subagentType,
    ...(name !== undefined && { name }),
    ...(modelProfile !== undefined && { modelProfile }),
    hasCallback: callback,
    isInteractive: requestHeader.get(metadataKeys.interactive) !== "0",
    ...(idempotencyKey !== null && { idempotencyKey }),
    signal: call.signal,
  });
  responseHeader.set(metadataKeys.sessionId, sessionId);
  if (isReplay) responseHeader.set(metadataKeys.isReplay, "1");
  return create(SpawnAgentResponseSchema, { agentId });
}

/** GetAgent: one agent as it is now. */
export async function getAgent(
  runtime: Pick<CrabcodeRuntime, "getAgent">,
  { sessionId, agentId }: GetAgentRequest,
  { responseHeader }: ResponseContext,
): Promise<AgentSnapshotProto> {
  return toWire(await runtime.getAgent({ sessionId, agentId }), responseHeader);
}

/** ListAgents: the agents of one session, newest first. */
export async function listAgents(
  runtime: Pick<CrabcodeRuntime, "listAgents">,
  { sessionId }: ListAgentsRequest,
  { responseHeader }: ResponseContext,
): Promise<ListAgentsResponse> {
  const listing = await runtime.listAgents(sessionId);
  responseHeader.set(metadataKeys.sessionId, listing.sessionId);
  return create(ListAgentsResponseSchema, {
    agents: listing.agents.map((agent) => toWire(agent, responseHeader)),
  });
}

/** CancelAgent: stops an agent and what it spawned; answers when they have ended. */
export async function cancelAgent(
  runtime: Pick<CrabcodeRuntime, "cancelAgent">,
  { sessionId, agentId }: CancelAgentRequest,
  { responseHeader }: ResponseContext,
): Promise<CancelAgentResponse> {
  const cancelled = await runtime.cancelAgent({ sessionId, agentId });
  responseHeader.set(metadataKeys.sessionId, cancelled.sessionId);
  return create(CancelAgentResponseSchema, { ok: cancelled.isStopped });
}

/** WaitAgent: answers with the first agent that has ended. Cancelling the call leaves the agents alone. */
export async function waitAgent(
  runtime: Pick<CrabcodeRuntime, "waitAgent">,
  { sessionId, agentIds, timeoutMs }: WaitAgentRequest,
  { signal, responseHeader }: Pick<CallContext, "signal" | "responseHeader">,
): Promise<AgentSnapshotProto> {
  using call = new CallSignal(signal);
  const snapshot = await runtime.waitAgent({
    sessionId,
    agentIds,
    ...(timeoutMs !== undefined && { timeoutMs }),
    signal: call.signal,
  });
  return toWire(snapshot, responseHeader);
}

function toWire(agent: AgentSnapshot, responseHeader: Headers): AgentSnapshotProto {
  responseHeader.set(metadataKeys.sessionId, agent.sessionId);
  const { parentAgentId, finishedAt, transcriptPath, callbackMessageId } = agent;
  return create(AgentSnapshotProtoSchema, {
    agentId: agent.agentId,
    ...(parentAgentId !== undefined && { parentAgentId }),
    title: agent.title,
    subagentType: agent.subagentType,
    status: agent.status,
    model: agent.model,
    createdAt: agent.createdAt,
    usage: Object.fromEntries(Object.entries(agent.usage).map(([key, count]) => [key, BigInt(count)])),
    finalResult: agent.finalResult,
    error: agent.error,
    sessionId: agent.sessionId,
    ...(finishedAt !== undefined && { finishedAt }),
    ...(transcriptPath !== undefined && { transcriptPath }),
    callbackEnabled: agent.hasCallback,
    callbackState: agent.callbackState,
    ...(callbackMessageId !== undefined && { callbackMessageId }),
    callbackEpoch: agent.callbackEpoch,
  });
}
