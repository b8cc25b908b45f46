import type { Client } from "@connectrpc/connect";
import type { IdSource } from "@trivium/core";
import type { CrabCodeService } from "@trivium/proto/crabcode";
import type { AgentService } from "@trivium/proto/crabcode-agents";
import { type AgentSnapshot, toSnapshot } from "./agent-snapshot.ts";
import {
  type CallSettings,
  mapped,
  type SessionOptions,
  sessionHeaders,
  withSignal,
} from "./call-settings.ts";

/** Options of {@link AgentCalls.spawn}. */
export interface SpawnOptions extends SessionOptions {
  readonly signal?: AbortSignal | undefined;
  /** `generalPurpose` (the default), `explore`, or a type of the server's settings. */
  readonly subagentType?: string | undefined;
  /** Title. Default: the first line of the prompt. */
  readonly name?: string | undefined;
  readonly modelProfile?: string | undefined;
  /** Put the result into the conversation, whose model then goes on by itself. Default false. */
  readonly hasCallback?: boolean | undefined;
  /** False: nobody answers the agent's questions. Default true. */
  readonly isInteractive?: boolean | undefined;
  /** 1 to 128 printable ASCII characters; a second call with it gets the same agent. Default: a key of its own. */
  readonly idempotencyKey?: string | undefined;
}

/** Options of {@link AgentCalls.wait}. */
export interface WaitOptions extends CallSettings {
  /** Throws kind `deadlineExceeded` after that time; 0 only looks. Default: no limit. */
  readonly timeoutMs?: number | undefined;
}

/** Options of {@link AgentCalls.sendInput}. */
export interface InputOptions extends CallSettings {
  /** Cancel a run that goes on first. Default false: a running agent refuses. */
  readonly interrupt?: boolean | undefined;
  readonly idempotencyKey?: string | undefined;
}

/** What the calls are made with. */
export interface AgentCallsDeps {
  readonly client: Client<typeof CrabCodeService>;
  readonly inputs: Client<typeof AgentService>;
  readonly ids: IdSource;
}

/**
 * Agents of a server: loops with a conversation of their own. What they do is told by `agent_state` and `agent_output`
 * events of a subscription, and by events that carry their `agent_id`.
 *
 * A call about an agent needs no `sessionId`: the server knows which session owns it.
 */
export class AgentCalls {
  readonly #deps: AgentCallsDeps;

  constructor(deps: AgentCallsDeps) {
    this.#deps = deps;
  }

  /** Starts an agent and gives its id, without waiting for anything it does. */
  async spawn(prompt: string, options: SpawnOptions = {}): Promise<string> {
    const { client, ids } = this.#deps;
    const { sessionId = "", subagentType = "", name, modelProfile, hasCallback = false, signal } = options;
    const headers = sessionHeaders(options);
    headers.set("idempotency-key", options.idempotencyKey ?? ids.hex(16));
    if (options.isInteractive === false) headers.set("crabcode-interactive", "0");
    const request = {
      sessionId,
      prompt,
      subagentType,
      callback: hasCallback,
      ...(name !== undefined && { name }),
      ...(modelProfile !== undefined && { modelProfile }),
    };
    const { agentId } = await mapped(client.spawnAgent(request, { headers, ...withSignal(signal) }));
    return agentId;
  }

  async get(agentId: string, { sessionId = "", signal }: CallSettings = {}): Promise<AgentSnapshot> {
    const { client } = this.#deps;
    return toSnapshot(await mapped(client.getAgent({ agentId, sessionId }, withSignal(signal))));
  }

  /** Agents of one session, newest first. */
  async list({ sessionId = "", signal }: CallSettings = {}): Promise<AgentSnapshot[]> {
    const { agents } = await mapped(this.#deps.client.listAgents({ sessionId }, withSignal(signal)));
    return agents.map(toSnapshot);
  }

  /** Stops an agent and what it spawned. False: it had ended before. */
  async cancel(agentId: string, { sessionId = "", signal }: CallSettings = {}): Promise<boolean> {
    const request = { agentId, sessionId };
    const { ok } = await mapped(this.#deps.client.cancelAgent(request, withSignal(signal)));
    return ok;
  }

  /** Waits for one agent, or for the first of several that ends. The signal ends the wait, not the agents. */
  async wait(agentIds: string | readonly string[], options: WaitOptions = {}): Promise<AgentSnapshot> {
    const { sessionId = "", timeoutMs, signal } = options;
    const request = {
      agentIds: typeof agentIds === "string" ? [agentIds] : [...agentIds],
      sessionId,
      ...(timeoutMs !== undefined && { timeoutMs }),
    };
    return toSnapshot(await mapped(this.#deps.client.waitAgent(request, withSignal(signal))));
  }

  /** Gives an agent that has ended more to do; its conversation goes on. Gives the number of the input. */
  async sendInput(agentId: string, prompt: string, options: InputOptions = {}): Promise<number> {
    const { sessionId = "", interrupt = false, signal, idempotencyKey } = options;
    const headers = { "idempotency-key": idempotencyKey ?? this.#deps.ids.hex(16) };
    const request = { agentId, prompt, sessionId, interrupt };
    const call = this.#deps.inputs.sendAgentInput(request, { headers, ...withSignal(signal) });
    return (await mapped(call)).callbackEpoch;
  }
}
