import { abortReason } from "@trivium/core";
import type { Message } from "../conversation/message.ts";
import { CrabcodeError } from "../crabcode-error.ts";
import type { AgentSettings } from "../settings/agent-settings.ts";
import type { AgentRecord, AgentStore } from "../store/agent-store.ts";
import { KEY_RETENTION_MS } from "../store/operation-store.ts";
import { Agent } from "./agent.ts";
import type { AgentHost } from "./agent-host.ts";
import { type AgentRunEnd, agentTranscriptPath, runAgent } from "./agent-run.ts";
import { AgentSlots } from "./agent-slots.ts";
import { titleOf } from "./agent-text.ts";
import { BUILT_IN_TYPES } from "./agent-tool-list.ts";
import { Callbacks } from "./callbacks.ts";

/** Agents a session remembers; the oldest ones that have ended go first. */
const MAX_KEPT = 500;

/** Who wants an agent: a client, the main loop or another agent. */
export interface AgentCaller {
  /** Undefined: a client or the main loop. */
  readonly agent: Agent | undefined;
  /** The turn or run of the tool call; undefined: a client. */
  readonly operationId: string | undefined;
}

/** A client of the session. */
export const byClient: AgentCaller = { agent: undefined, operationId: undefined };

/** An agent to be made; the prompt was checked. */
export interface SpawnRequest {
  readonly prompt: string;
  readonly type: string;
  readonly name: string | undefined;
  readonly modelProfile: string | undefined;
  readonly hasCallback: boolean;
  readonly isInteractive: boolean;
  readonly toolUseId?: string;
  readonly idempotencyKey?: string;
  readonly requestHash?: string;
}

/** More to do for an agent; the prompt was checked. */
export interface InputRequest {
  readonly prompt: string;
  readonly interrupt: boolean;
  /** Set for a notification: the uuid of its message. */
  readonly messageId?: string;
}

/** What a manager is made of. */
export interface AgentManagerDeps {
  readonly host: AgentHost;
  readonly store: AgentStore;
}

/** The agents of one loaded session: who waits, who runs, who may do what with whom. */
export class AgentManager {
  readonly callbacks: Callbacks;
  readonly #host: AgentHost;
  readonly #store: AgentStore;
  readonly #slots: AgentSlots;
  /** In order of spawning. */
  readonly #agents = new Map<string, Agent>();
  /** Turns by the operations of the runs they led to. */
  readonly #roots: Map<string, string>;
  #lastOrdinal = 0;

  constructor({ host, store }: AgentManagerDeps) {
    this.#host = host;
    this.#store = store;
    this.#slots = new AgentSlots(host.parts.settings.agents.maxConcurrency);
    this.#roots = store.runs();
    const { sessionId, transcripts } = host.parts;
    for (const record of store.all()) {
      const path = agentTranscriptPath(transcripts, { sessionId, agentId: record.agentId });
      this.#agents.set(record.agentId, new Agent(record, path));
      this.#lastOrdinal = record.ordinal;
    }
    this.callbacks = new Callbacks({ host, store, agents: this });
  }

  /** In order of spawning. */
  get all(): Agent[] {
    return [...this.#agents.values()];
  }

  get sessionId(): string {
    return this.#host.parts.sessionId;
  }

  get settings(): AgentSettings {
    return this.#host.parts.settings.agents;
  }

  /** What the user said last in the main conversation; "" before the first message. */
  get latestUserText(): string {
    const { messages } = this.#host.parts.conversation;
    const isSaid = ({ role, origin, content }: Message): boolean =>
      role === "user" && origin === undefined && content.some(({ type }) => type === "text");
    const said = messages.findLast(isSaid)?.content ?? [];
    return said.flatMap((block) => (block.type === "text" ? [block.text] : [])).join("\n");
  }

  get activeCount(): number {
    return this.all.filter((agent) => !agent.isOver).length;
  }

  /** The turn a run belongs to, as far as the streams of that turn are concerned. */
  rootOf(operationId: string): string | undefined {
    return this.#roots.get(operationId);
  }

  find(agentId: string): Agent | undefined {
    return this.#agents.get(agentId);
  }

  /** @throws CrabcodeError AGENT_NOT_FOUND, also for an agent that is none of the caller's descendants */
  get(agentId: string, caller: AgentCaller = byClient): Agent {
    const agent = this.#agents.get(agentId);
    if (agent !== undefined && this.#mayReach(caller, agent)) return agent;
    throw new CrabcodeError("AGENT_NOT_FOUND", "the session has no agent with that id", this.#host.parts);
  }

  reachable(caller: AgentCaller): Agent[] {
    return this.all.filter((agent) => this.#mayReach(caller, agent));
  }

  /** An agent that was spawned with this key, unless that is too long ago. */
  findByKey(key: string): Agent | undefined {
    const nowMs = this.#host.environment.clock.now();
    return this.all.find(
      ({ record: { idempotencyKey, finishedAtMs } }) =>
        idempotencyKey === key && (finishedAtMs === undefined || finishedAtMs >= nowMs - KEY_RETENTION_MS),
    );
  }

  /**
   * Registers an agent, which runs when it has a slot.
   *
   * @throws CrabcodeError SUBAGENT_TYPE_UNKNOWN, PROFILE_NOT_FOUND, PROFILE_UNUSABLE, SHUTTING_DOWN, AGENT_LIMIT
   */
  spawn(request: SpawnRequest, caller: AgentCaller): Agent {
    const { environment, parts, modelProfile: current } = this.#host;
    const { settings, sessionId } = parts;
    const type = request.type === "" ? "generalPurpose" : request.type;
    const typeSettings = settings.agents.types.get(type);
    if (!BUILT_IN_TYPES.has(type) && typeSettings === undefined) {
      throw new CrabcodeError("SUBAGENT_TYPE_UNKNOWN", "no agent type has that name", parts);
    }
    const modelProfile = request.modelProfile ?? typeSettings?.modelProfile ?? current;
    if (!environment.models.list(settings.models).some(({ name }) => name === modelProfile)) {
      throw new CrabcodeError("PROFILE_NOT_FOUND", "no model profile has that name", parts);
    }
    this.#assertOpen();
    this.#assertRoom();
    const model = this.#host.openProfile(modelProfile);
    const agentId = environment.ids.uuid();
    this.#lastOrdinal += 1;
    const record: AgentRecord = {
      agentId,
      ordinal: this.#lastOrdinal,
      parentId: caller.agent?.id,
      parentToolUseId: request.toolUseId,
      title: request.name ?? titleOf(request.prompt, type),
      type,
      depth: (caller.agent?.record.depth ?? 0) + 1,
      model: model.model,
      modelProfile,
      isInteractive: request.isInteractive,
      createdAtMs: environment.clock.now(),
      hasCallback: request.hasCallback,
      idempotencyKey: request.idempotencyKey,
      requestHash: request.requestHash,
      status: "queued",
      finishedAtMs: undefined,
      usage: {},
      finalResult: "",
      error: "",
      callbackState: request.hasCallback ? "pending" : "disabled",
      callbackMessageId: undefined,
      callbackEpoch: 0,
      operationId: environment.ids.hex(16),
      runEpoch: undefined,
      runAfterSeq: undefined,
    };
    const agent = new Agent(record, agentTranscriptPath(parts.transcripts, { sessionId, agentId }));
    agent.model = model;
    agent.input = { text: request.prompt, messageId: undefined };
    this.#store.insert(record);
    this.#agents.set(agentId, agent);
    this.#forgetOldest();
    this.#queue(agent, caller);
    return agent;
  }

  /**
   * Waits until one of the agents has ended; the first in the given order when some have already.
   *
   * @returns undefined when the time is over
   * @throws the reason of `signal`
   */
  async waitAny(
    agents: readonly Agent[],
    { timeoutMs, signal }: { timeoutMs: number | undefined; signal?: AbortSignal | undefined },
  ): Promise<Agent | undefined> {
    if (signal?.aborted === true) throw abortReason(signal);
    const over = agents.find((agent) => agent.isSettled);
    if (over !== undefined || (timeoutMs !== undefined && timeoutMs <= 0)) return over;
    using cleanUp = new DisposableStack();
    return await new Promise<Agent | undefined>((resolve, reject) => {
      for (const agent of agents) cleanUp.use(agent.onSettled(() => resolve(agent)));
      if (timeoutMs !== undefined) {
        cleanUp.use(this.#host.environment.clock.setTimer(timeoutMs, () => resolve(undefined)));
      }
      if (signal === undefined) return;
      const onAbort = (): void => reject(abortReason(signal));
      signal.addEventListener("abort", onAbort, { once: true });
      cleanUp.defer(() => signal.removeEventListener("abort", onAbort));
    });
  }

  /** An agent waits for others until this is disposed; nothing happens for the main loop. */
  waiting({ agent }: AgentCaller): Disposable {
    return agent === undefined ? { [Symbol.dispose]() {} } : this.#slots.waiting(agent.id);
  }

  /** Stops an agent and what it spawned, the deepest first. False: it had ended before. */
  async cancel(agent: Agent): Promise<boolean> {
    if (agent.isOver) return false;
    // Taken off first, so that no slot that comes free lets it start.
    const isQueued = this.#slots.withdraw(agent.id);
    for (const child of this.all) {
      if (child.record.parentId !== agent.id || child.isOver) continue;
      // Whoever wanted its result is stopped too.
      if (child.record.hasCallback) child.record.callbackState = "disabled";
      await this.cancel(child);
    }
    agent.stop("stopped");
    if (isQueued) await this.#finish(agent, stoppedBefore("stopped"));
    await agent.settled();
    // What it spawned while its children were being stopped.
    for (const child of this.all) if (child.record.parentId === agent.id) await this.cancel(child);
    return agent.record.status === "stopped";
  }

  /**
   * Gives an agent more to do.
   *
   * @throws CrabcodeError AGENT_RUNNING, CALLBACK_UNDELIVERED, AGENT_LIMIT
   */
  async input(agent: Agent, request: InputRequest, caller: AgentCaller): Promise<void> {
    const { parts, environment } = this.#host;
    const { record } = agent;
    // The end of the run before is told to its waiters first.
    if (agent.isOver) await agent.settled();
    if (!agent.isOver) {
      if (!request.interrupt) throw new CrabcodeError("AGENT_RUNNING", "the agent has not ended", parts);
      // What is cut off here is no result for anybody.
      this.callbacks.supersede(agent);
      await this.cancel(agent);
      if (!agent.isSettled) throw new CrabcodeError("AGENT_RUNNING", "the agent has not ended", parts);
    } else if (record.callbackState === "pending" || record.callbackState === "injected") {
      const message = "the last result of the agent is still on its way";
      throw new CrabcodeError("CALLBACK_UNDELIVERED", message, parts);
    }
    this.#assertOpen();
    this.#assertRoom();
    record.status = "queued";
    record.error = "";
    record.finalResult = "";
    record.finishedAtMs = undefined;
    record.callbackEpoch += 1;
    record.callbackState = record.hasCallback ? "pending" : "disabled";
    record.callbackMessageId = undefined;
    record.operationId = environment.ids.hex(16);
    agent.input = { text: request.prompt, messageId: request.messageId };
    agent.renew();
    this.#queue(agent, caller);
  }

  /** Resolves when no agent waits or runs. */
  async idle(): Promise<void> {
    for (const agent of this.all) await agent.settled();
  }

  /** Stops every agent. The session admits no more by now. */
  async close(): Promise<void> {
    // Until none is left: a call that was on its way may have made another one.
    for (;;) {
      const active = this.all.filter((agent) => !agent.isSettled);
      if (active.length === 0) return;
      const queued = active.filter((agent) => this.#slots.withdraw(agent.id));
      for (const agent of active) agent.stop("session ended");
      for (const agent of queued) await this.#finish(agent, stoppedBefore("session ended"));
      for (const agent of active) await agent.settled();
    }
  }

  #queue(agent: Agent, caller: AgentCaller): void {
    const { operationId } = agent.record;
    const callerOperation = caller.operationId;
    agent.rootOperationId =
      callerOperation === undefined ? undefined : (this.#roots.get(callerOperation) ?? callerOperation);
    if (caller.agent !== undefined) agent.rootOperationId = caller.agent.rootOperationId;
    if (agent.rootOperationId !== undefined) {
      this.#roots.set(operationId, agent.rootOperationId);
      this.#store.addRun(operationId, agent.rootOperationId);
    }
    this.#store.update(agent.record);
    this.#publish(agent, "queued");
    const { id, record } = agent;
    this.#slots.request({ id, parentId: record.parentId, start: () => void this.#run(agent) });
  }

  async #run(agent: Agent): Promise<void> {
    const { record } = agent;
    const { bus } = this.#host.parts;
    const earlier = record.usage;
    record.status = "running";
    record.runEpoch = bus.epoch;
    record.runAfterSeq = bus.seq;
    this.#store.update(record);
    this.#publish(agent, "started");
    const end = await runAgent(this.#host, agent, ({ input_tokens, output_tokens }) => {
      record.usage = {
        input_tokens: (earlier.input_tokens ?? 0) + input_tokens,
        output_tokens: (earlier.output_tokens ?? 0) + output_tokens,
      };
      this.#store.update(record);
    });
    await this.#finish(agent, end);
  }

  async #finish(agent: Agent, { status, error, finalResult }: AgentRunEnd): Promise<void> {
    const { record } = agent;
    const { environment, parts } = this.#host;
    record.status = status;
    record.error = error;
    record.finalResult = finalResult;
    record.finishedAtMs = environment.clock.now();
    this.#store.update(record);
    this.#publish(agent, error === "" ? status : error);
    await parts.bus.flush().catch((cause: unknown) => {
      environment.logger.error({ agentId: agent.id, cause }, "the end of an agent could not be published");
    });
    agent.settle();
    this.#slots.release(agent.id);
    this.callbacks.ended(agent);
  }

  #publish(agent: Agent, message: string): void {
    const { operationId } = agent.record;
    const root = agent.rootOperationId;
    const scope = root !== undefined && this.#host.isForeground(root) ? "foreground" : "background";
    this.#host.parts.bus.publish(agent.stateEvent(message), { operationId, scope });
  }

  #mayReach({ agent: caller }: AgentCaller, agent: Agent): boolean {
    if (caller === undefined) return true;
    for (let parentId = agent.record.parentId; parentId !== undefined; ) {
      if (parentId === caller.id) return true;
      parentId = this.#agents.get(parentId)?.record.parentId;
    }
    return false;
  }

  #assertOpen(): void {
    if (!this.#host.isClosing) return;
    throw new CrabcodeError("SHUTTING_DOWN", "the session is closing", this.#host.parts);
  }

  #assertRoom(): void {
    const { settings } = this.#host.parts;
    const { maxActive } = settings.agents;
    if (this.activeCount < maxActive) return;
    throw new CrabcodeError("AGENT_LIMIT", `too many active agents (${maxActive})`, this.#host.parts);
  }

  #forgetOldest(): void {
    for (const agent of this.all) {
      if (this.#agents.size <= MAX_KEPT) return;
      const { callbackState } = agent.record;
      if (!agent.isSettled || callbackState === "pending" || callbackState === "injected") continue;
      this.#agents.delete(agent.id);
      this.#store.remove(agent.id);
    }
  }
}

/** The end of an agent that never ran. */
function stoppedBefore(reason: string): AgentRunEnd {
  return { status: "stopped", error: reason, finalResult: "" };
}
