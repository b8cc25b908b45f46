import { CrabcodeError } from "../crabcode-error.ts";
import type { AgentStore } from "../store/agent-store.ts";
import type { Agent } from "./agent.ts";
import type { AgentHost } from "./agent-host.ts";
import { notificationText } from "./agent-text.ts";

/** What of the agents of a session callbacks need. */
export interface CallbackAgents {
  readonly all: Agent[];
  find(agentId: string): Agent | undefined;
  input(
    agent: Agent,
    request: { prompt: string; interrupt: boolean; messageId: string },
    caller: { agent: undefined; operationId: undefined },
  ): Promise<void>;
}

/** A message that hands results over, and what becomes of it. */
export interface Notification {
  readonly messageId: string;
  readonly text: string;
}

/** What callbacks are made of. */
export interface CallbacksDeps {
  readonly host: AgentHost;
  readonly store: AgentStore;
  readonly agents: CallbackAgents;
}

const fromOutside = { agent: undefined, operationId: undefined } as const;

/**
 * Hands the results of agents with a callback to whoever delegated: as a message of the main conversation, which then
 * goes on by itself, or as further input of the agent that spawned them.
 *
 * `pending` becomes `injected` when the message is decided on, and `delivered` when the owner's model has answered it.
 */
export class Callbacks {
  readonly #deps: CallbacksDeps;
  /** Messages a run is under way for. */
  readonly #active = new Set<string>();
  /** Messages whose run failed, to be tried again once, after the next turn that ends well. */
  readonly #retryable = new Set<string>();
  readonly #retried = new Set<string>();
  /** Messages to be tried again now. */
  readonly #dueAgain = new Set<string>();
  /** Agents whose own owner does not take their result. */
  readonly #toMain = new Set<string>();
  /** Messages an owner that is an agent works on. */
  readonly #ofOwner = new Map<string, string>();
  readonly #superseded = new Set<string>();

  constructor(deps: CallbacksDeps) {
    this.#deps = deps;
  }

  /** The next end of this agent is no result: it gets other input instead. */
  supersede(agent: Agent): void {
    this.#superseded.add(agent.id);
  }

  /** A run of an agent has ended. */
  ended(agent: Agent): void {
    const messageId = this.#ofOwner.get(agent.id);
    if (messageId !== undefined) {
      this.#ofOwner.delete(agent.id);
      const assistantId =
        agent.record.status === "completed" ? agent.conversation?.answerTo(messageId) : undefined;
      if (assistantId !== undefined) this.answered(messageId, assistantId);
      else this.failed(messageId);
    }
    // A closing session hands over nothing; what is pending is taken up when it is loaded again.
    if (this.#superseded.delete(agent.id) || this.#deps.host.isClosing) return;
    this.dispatch();
  }

  /** Everything that an earlier life of the session did not get delivered. */
  resume(): void {
    const { agents, store } = this.#deps;
    for (const { record } of agents.all) {
      const { callbackState, callbackMessageId: messageId } = record;
      if (callbackState !== "injected" || messageId === undefined) continue;
      if (store.wasDelivered(record)) {
        record.callbackState = "delivered";
        store.update(record);
      } else if (!this.#active.has(messageId)) this.#dueAgain.add(messageId);
    }
    this.dispatch();
  }

  /** A turn of the main loop that was no callback has ended well. */
  turnEndedWell(): void {
    for (const messageId of this.#retryable) {
      this.#dueAgain.add(messageId);
      this.#retried.add(messageId);
    }
    this.#retryable.clear();
    this.dispatch();
  }

  /** Sees to every result that can be handed over now. */
  dispatch(): void {
    if (this.#deps.host.isClosing) return;
    if (this.#due(undefined).length > 0) this.#deps.host.requestCallbackTurn();
    for (const owner of this.#deps.agents.all) {
      const { callbackState } = owner.record;
      const isFree = owner.isSettled && callbackState !== "pending" && callbackState !== "injected";
      if (isFree && !this.#ofOwner.has(owner.id)) this.#handToAgent(owner);
    }
  }

  /**
   * The message of the callback turn that begins now; it is `injected` when this returns. Undefined: nothing is due.
   *
   * Everything that became ready meanwhile is in it.
   */
  takeForMain(): Notification | undefined {
    if (this.#due(undefined).length === 0) return undefined;
    try {
      this.#deps.host.openModel();
    } catch (cause) {
      // Results wait until there is a model to read them.
      this.#report(cause instanceof Error ? cause.message : "the model profile cannot be used");
      return undefined;
    }
    return this.#take(undefined);
  }

  /** A turn over this message goes on that a restart cut. */
  resumeTurn(messageId: string): void {
    this.#active.add(messageId);
  }

  /** The owner's model has answered; durable when it returns. */
  answered(messageId: string, assistantId: string): void {
    const { agents, store } = this.#deps;
    this.#active.delete(messageId);
    for (const { record } of agents.all) {
      if (record.callbackState !== "injected" || record.callbackMessageId !== messageId) continue;
      store.delivered(record, { messageId, assistantId });
      record.callbackState = "delivered";
      store.update(record);
    }
  }

  /** The callback turn over this message ended in another way. */
  failed(messageId: string): void {
    if (!this.#active.delete(messageId) || this.#retried.has(messageId)) return;
    this.#retryable.add(messageId);
  }

  /** Results for the main loop (undefined) or for an agent; first those whose message is to be tried again. */
  #due(owner: Agent | undefined): Agent[] {
    const mine = this.#deps.agents.all.filter(
      (agent) => agent.isSettled && !this.#superseded.has(agent.id) && this.#ownerOf(agent) === owner,
    );
    const [again] = mine.filter(({ record }) => {
      const { callbackState, callbackMessageId: id } = record;
      return callbackState === "injected" && id !== undefined && this.#dueAgain.has(id);
    });
    if (again !== undefined) {
      const id = again.record.callbackMessageId;
      return mine.filter(
        ({ record }) => record.callbackState === "injected" && record.callbackMessageId === id,
      );
    }
    return mine.filter(({ record }) => record.callbackState === "pending");
  }

  #ownerOf(agent: Agent): Agent | undefined {
    const { parentId } = agent.record;
    if (parentId === undefined || this.#toMain.has(agent.id)) return undefined;
    const owner = this.#deps.agents.find(parentId);
    // One that was stopped is to stay so.
    return owner?.record.status === "stopped" ? undefined : owner;
  }

  #take(owner: Agent | undefined): Notification | undefined {
    const due = this.#due(owner);
    const [first] = due;
    if (first === undefined) return undefined;
    const { host, store } = this.#deps;
    const { sessionId, settings } = host.parts;
    const messageId = first.record.callbackMessageId ?? host.environment.ids.uuid();
    this.#dueAgain.delete(messageId);
    this.#active.add(messageId);
    for (const { record } of due) {
      record.callbackState = "injected";
      record.callbackMessageId = messageId;
      store.update(record);
    }
    const text = notificationText(
      due.map((agent) => ({ snapshot: agent.snapshot(sessionId), toolUseId: agent.record.parentToolUseId })),
      { messageId, maxChars: settings.agents.maxOutputChars },
    );
    return { messageId, text };
  }

  #handToAgent(owner: Agent): void {
    const due = this.#due(owner);
    const notification = due.length === 0 ? undefined : this.#take(owner);
    if (notification === undefined) return;
    const { messageId, text } = notification;
    this.#ofOwner.set(owner.id, messageId);
    void this.#deps.agents
      .input(owner, { prompt: text, interrupt: false, messageId }, fromOutside)
      .catch((cause: unknown) => {
        this.#ofOwner.delete(owner.id);
        this.#active.delete(messageId);
        if (!CrabcodeError.isInstance(cause)) {
          this.#deps.host.environment.logger.error({ agentId: owner.id, cause }, "an agent took no result");
        }
        // The owner does not take it: the main loop does.
        for (const { id } of due) this.#toMain.add(id);
        this.#dueAgain.add(messageId);
        this.dispatch();
      });
  }

  #report(message: string): void {
    this.#deps.host.parts.bus.publish({
      type: "error",
      message,
      recoverable: true,
      error_type: "agent_callback",
      agent_id: null,
      command: null,
      command_error: false,
    });
  }
}
