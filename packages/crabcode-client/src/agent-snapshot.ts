import { TriviumError } from "@trivium/core";
import type { AgentSnapshotProto } from "@trivium/proto/crabcode";

/** An agent at one moment. */
export interface AgentSnapshot {
  readonly agentId: string;
  readonly sessionId: string;
  readonly parentAgentId: string | undefined;
  readonly title: string;
  readonly subagentType: string;
  /** `queued`, `running`, `completed`, `failed` or `stopped`. */
  readonly status: string;
  /** True when it neither waits nor runs. */
  readonly isOver: boolean;
  readonly model: string;
  readonly createdAt: Date;
  readonly finishedAt: Date | undefined;
  /** Tokens: `input_tokens`, `output_tokens`. */
  readonly usage: Readonly<Record<string, number>>;
  /** What it said in its last run. */
  readonly finalResult: string;
  /** "" unless it failed or was stopped. */
  readonly error: string;
  readonly transcriptPath: string | undefined;
  readonly hasCallback: boolean;
  /** `disabled`, `pending`, `injected` or `delivered`. */
  readonly callbackState: string;
  readonly callbackMessageId: string | undefined;
  readonly callbackEpoch: number;
}

/** @throws {@link TriviumError} `internal` when a count is not safe as a number. */
export function toSnapshot(agent: AgentSnapshotProto): AgentSnapshot {
  return {
    agentId: agent.agentId,
    sessionId: agent.sessionId,
    // Some servers send "" for none.
    parentAgentId: agent.parentAgentId === "" ? undefined : agent.parentAgentId,
    title: agent.title,
    subagentType: agent.subagentType,
    // The name that older servers use.
    status: agent.status === "cancelled" ? "stopped" : agent.status,
    isOver: agent.status !== "queued" && agent.status !== "running",
    model: agent.model,
    createdAt: new Date(agent.createdAt),
    finishedAt: agent.finishedAt === undefined ? undefined : new Date(agent.finishedAt),
    usage: Object.fromEntries(Object.entries(agent.usage).map(([key, count]) => [key, toNumber(key, count)])),
    finalResult: agent.finalResult,
    error: agent.error,
    transcriptPath: agent.transcriptPath,
    hasCallback: agent.callbackEnabled,
    callbackState: agent.callbackState,
    callbackMessageId: agent.callbackMessageId,
    callbackEpoch: agent.callbackEpoch,
  };
}

function toNumber(key: string, count: bigint): number {
  const value = Number(count);
  if (Number.isSafeInteger(value)) return value;
  throw new TriviumError("internal", `usage ${key} is ${count}, more than a number can hold exactly`);
}
