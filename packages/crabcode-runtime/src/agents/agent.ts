import type { AgentStateEvent } from "@trivium/proto/crabcode-events";
import type { Conversation } from "../conversation/conversation.ts";
import type { ModelPort } from "../ports/model-port.ts";
import type { AgentRecord } from "../store/agent-store.ts";
import type { AgentSnapshot } from "./agent-types.ts";

/** One agent of a loaded session: what is stored of it, and what it needs while it waits or runs. */
export class Agent {
  readonly record: AgentRecord;
  readonly transcriptPath: string | undefined;
  /** Opened with the first run of this life of the session. */
  conversation: Conversation | undefined;
  model: ModelPort | undefined;
  /** What the next run begins with. */
  input: { readonly text: string; readonly messageId: string | undefined } | undefined;
  /** The turn whose tools led to the newest run; undefined when a client did. */
  rootOperationId: string | undefined;
  #abort = new AbortController();
  #isSettled: boolean;
  #stopReason = "stopped";
  readonly #waiters = new Set<() => void>();

  constructor(record: AgentRecord, transcriptPath: string | undefined) {
    this.record = record;
    this.transcriptPath = transcriptPath;
    this.#isSettled = this.isOver;
  }

  get id(): string {
    return this.record.agentId;
  }

  get isOver(): boolean {
    return this.record.status !== "queued" && this.record.status !== "running";
  }

  /** Aborts when the run is to stop. */
  get signal(): AbortSignal {
    return this.#abort.signal;
  }

  /** True when the agent has ended and all of that is written. */
  get isSettled(): boolean {
    return this.#isSettled;
  }

  /** Calls back when the agent has ended and all of that is written; at once if that is so already. */
  onSettled(callback: () => void): Disposable {
    if (this.#isSettled) callback();
    else this.#waiters.add(callback);
    return { [Symbol.dispose]: () => this.#waiters.delete(callback) };
  }

  /** Resolves when the agent has ended and all of that is written. */
  settled(): Promise<void> {
    return new Promise((resolve) => void this.onSettled(resolve));
  }

  /** What `error` says of an agent that was stopped. */
  get stopReason(): string {
    return this.#stopReason;
  }

  stop(reason: string): void {
    if (!this.signal.aborted) this.#stopReason = reason;
    this.#abort.abort(new DOMException("the agent was stopped", "AbortError"));
  }

  /** A new run is to come. */
  renew(): void {
    this.#abort = new AbortController();
    this.#isSettled = false;
    this.#stopReason = "stopped";
  }

  settle(): void {
    this.#isSettled = true;
    const waiters = [...this.#waiters];
    this.#waiters.clear();
    for (const waiter of waiters) waiter();
  }

  stateEvent(message: string): AgentStateEvent {
    const { agentId, parentId, status, type, title, usage } = this.record;
    return {
      type: "agent_state",
      agent_id: agentId,
      parent_agent_id: parentId ?? null,
      status,
      subagent_type: type,
      title,
      message,
      usage: { ...usage },
    };
  }

  snapshot(sessionId: string): AgentSnapshot {
    const { record } = this;
    return {
      sessionId,
      agentId: record.agentId,
      parentAgentId: record.parentId,
      title: record.title,
      subagentType: record.type,
      status: record.status,
      model: record.model,
      createdAt: new Date(record.createdAtMs).toISOString(),
      finishedAt: record.finishedAtMs === undefined ? undefined : new Date(record.finishedAtMs).toISOString(),
      usage: record.usage,
      finalResult: record.finalResult,
      error: record.error,
      transcriptPath: this.transcriptPath,
      hasCallback: record.hasCallback,
      callbackState: record.callbackState,
      callbackMessageId: record.callbackMessageId,
      callbackEpoch: record.callbackEpoch,
    };
  }
}
