import type { SessionReference, SessionSelector } from "../sessions/session-selector.ts";
import type { AgentRecord, AgentUsage, CallbackState } from "../store/agent-store.ts";

/** What a client wants an agent to do. */
export interface SpawnAgentInput {
  readonly session: SessionSelector;
  /** Not blank, up to 1 MiB. */
  readonly prompt: string;
  /** `generalPurpose`, `explore` or a type of the settings; "" is `generalPurpose`. */
  readonly subagentType?: string;
  /** Title. Default: the first line of the prompt. */
  readonly name?: string;
  /** Absent: the type decides, then the session. */
  readonly modelProfile?: string;
  /** Put the result into the conversation and let its model go on. Default false. */
  readonly hasCallback?: boolean;
  /** False: nobody answers the questions of the agent. Default true. */
  readonly isInteractive?: boolean;
  /** 1 to 128 printable ASCII characters. */
  readonly idempotencyKey?: string;
  /** A call that is over before the agent is registered rejects with the reason, and nothing runs. */
  readonly signal?: AbortSignal;
}

/** A registered agent. */
export interface SpawnedAgent extends SessionReference {
  readonly agentId: string;
  /** True when the call joined an earlier one through its idempotency key. */
  readonly isReplay: boolean;
}

/** An agent as a call names it. */
export interface AgentReference {
  /** "" is the session that owns the agent. */
  readonly sessionId: string;
  readonly agentId: string;
}

/** Agents to wait for, and how long. */
export interface WaitAgentInput {
  /** "" is the session that owns all of them. */
  readonly sessionId: string;
  /** Blank and repeated ones do not count; several mean: whichever ends first. */
  readonly agentIds: readonly string[];
  /** 0 or less only looks. Absent: until one has ended. */
  readonly timeoutMs?: number;
  /** Ends the wait, not the agents. */
  readonly signal?: AbortSignal;
}

/** More to do for an agent. */
export interface AgentInput extends AgentReference {
  readonly prompt: string;
  /** Cancel a run that goes on first. Default false: a running agent refuses. */
  readonly interrupt?: boolean;
  readonly idempotencyKey?: string;
}

/** An agent at one moment. */
export interface AgentSnapshot extends SessionReference {
  readonly agentId: string;
  readonly parentAgentId: string | undefined;
  readonly title: string;
  readonly subagentType: string;
  readonly status: AgentRecord["status"];
  /** The provider's id; "" if the provider has none. */
  readonly model: string;
  /** RFC 3339, UTC. */
  readonly createdAt: string;
  readonly finishedAt: string | undefined;
  /** Tokens of all its runs; empty before the first request. */
  readonly usage: AgentUsage;
  /** What it said in its last run. */
  readonly finalResult: string;
  /** "" unless it failed or was stopped. */
  readonly error: string;
  /** Absolute. Undefined: nothing is kept on disk. */
  readonly transcriptPath: string | undefined;
  readonly hasCallback: boolean;
  readonly callbackState: CallbackState;
  /** UUID of the message that carries the result; set once it is in the history. */
  readonly callbackMessageId: string | undefined;
  /** Inputs it got after its first prompt. */
  readonly callbackEpoch: number;
}

/** Agents of a session, newest first. */
export interface AgentListing extends SessionReference {
  readonly agents: readonly AgentSnapshot[];
}

/** Answer of a cancel. */
export interface CancelledAgent extends SessionReference {
  /** False: it had ended before. */
  readonly isStopped: boolean;
}

/** Answer of an input. */
export interface AcceptedAgentInput extends SessionReference {
  readonly callbackEpoch: number;
  readonly isReplay: boolean;
}
