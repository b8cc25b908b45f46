import { type Client, createClient, type Transport } from "@connectrpc/connect";
import { type Clock, type IdSource, randomIds, systemClock } from "@trivium/core";
import { CrabCodeService } from "@trivium/proto/crabcode";
import { AgentService } from "@trivium/proto/crabcode-agents";
import { CheckpointService } from "@trivium/proto/crabcode-checkpoints";
import { QuestionService } from "@trivium/proto/crabcode-questions";
import { SessionService } from "@trivium/proto/crabcode-sessions";
import { AgentCalls } from "./agent-calls.ts";
import {
  type CallSettings,
  mapped,
  type SessionOptions,
  sessionHeaders,
  withSignal,
} from "./call-settings.ts";
import { CheckpointCalls } from "./checkpoint-calls.ts";
import type { CrabcodeClientEvent } from "./client-event.ts";
import { messageStream } from "./message-stream.ts";
import { QuestionCalls } from "./question-calls.ts";
import type {
  AnswerSender,
  PermissionDecision,
  QuestionAddress,
  QuestionHandlers,
} from "./question-responder.ts";
import { SessionCalls } from "./session-calls.ts";
import { type SubscriptionDeps, subscription } from "./subscription.ts";
import { Turn } from "./turn.ts";

/** What a client may be given beside its transport; the defaults are the real things. */
export interface CrabcodeClientOptions {
  readonly clock?: Clock;
  readonly ids?: IdSource;
  /** 0 to 1, for the delays between reconnects. */
  readonly random?: () => number;
}

/** Options of {@link CrabcodeClient.send}. */
export interface SendOptions extends SessionOptions, QuestionHandlers {
  /** Interrupts the turn. */
  readonly signal?: AbortSignal | undefined;
  /** Model requests the turn may make. Default 0: no limit. */
  readonly maxTurns?: number | undefined;
  /** Default true. False: nobody answers questions; permissions are refused, choices take their first option. */
  readonly isInteractive?: boolean | undefined;
  /** True: the turn goes on when its stream is left or lost. */
  readonly isDetached?: boolean | undefined;
  /**
   * 1 to 128 printable ASCII characters. A second call with it joins the first. Default: a key of its own.
   *
   * With a key the server keeps a turn whose connection was lost for 30 s. Over HTTP/1.1, and so in most browsers, it
   * cannot tell that from a cancel: null sends no key, which makes a cancel work at once there and gives up the resend.
   */
  readonly idempotencyKey?: string | null | undefined;
}

/** Options of {@link CrabcodeClient.subscribe}. */
export interface SubscribeOptions extends SessionOptions, QuestionHandlers {
  /** Ends the subscription, without an error. */
  readonly signal?: AbortSignal | undefined;
  /** Continue behind this event: `<epoch>:<seq>` as `cursorOf` gives it. Absent: from now on. */
  readonly afterSeq?: string | undefined;
}

/** Models of a session. */
export interface ModelList {
  readonly models: readonly { readonly name: string; readonly description: string }[];
  /** Name of the active one; undefined when the server does not say. */
  readonly current: string | undefined;
}

/**
 * Client of `crabcode.CrabCodeService` over any Connect transport, in Node and browsers.
 *
 * Errors are `TriviumError`s; `crabcodeErrorReason` gives the server's reason.
 *
 * @example
 * ```ts
 * const client = new CrabcodeClient(transport);
 * for await (const event of client.send("read README.md", { onPermission: () => "allow" })) {
 *   if (event.type === "stream_text") show(event.text);
 * }
 * ```
 */
export class CrabcodeClient {
  /** Agents that work on tasks of their own. */
  readonly agents: AgentCalls;
  /** Making, finding, naming, archiving and deleting sessions, and their histories. */
  readonly sessions: SessionCalls;
  /** What waits for an answer. */
  readonly questions: QuestionCalls;
  /** Places in a conversation to return to, with the files as they were. */
  readonly checkpoints: CheckpointCalls;
  readonly #client: Client<typeof CrabCodeService>;
  readonly #clock: Clock;
  readonly #ids: IdSource;
  readonly #random: () => number;
  readonly #sender: AnswerSender = {
    respondPermission: (address, decision) => this.respondPermission(address, decision),
    respondChoice: (address, selected) => this.respondChoice(address, selected),
  };

  get #deps(): SubscriptionDeps {
    return { client: this.#client, sender: this.#sender, clock: this.#clock, random: this.#random };
  }

  constructor(transport: Transport, options: CrabcodeClientOptions = {}) {
    const { clock = systemClock, ids = randomIds, random = Math.random } = options;
    this.#client = createClient(CrabCodeService, transport);
    this.sessions = new SessionCalls({ client: createClient(SessionService, transport), ids });
    this.questions = new QuestionCalls(createClient(QuestionService, transport));
    this.checkpoints = new CheckpointCalls({ client: createClient(CheckpointService, transport), ids });
    this.agents = new AgentCalls({
      client: this.#client,
      inputs: createClient(AgentService, transport),
      ids,
    });
    this.#clock = clock;
    this.#ids = ids;
    this.#random = random;
  }

  /**
   * Sends a message at once and gives the turn it starts. Questions go to the callbacks, if there are any; without
   * them answer with {@link CrabcodeClient.respondPermission}. Sends again by itself, once, when the connection
   * is lost.
   */
  send(text: string, options: SendOptions = {}): Turn {
    const { sessionId = "", maxTurns = 0, signal, onPermission, onChoice } = options;
    const headers = sessionHeaders(options);
    const { idempotencyKey: key = this.#ids.hex(16) } = options;
    if (key !== null) headers.set("idempotency-key", key);
    if (options.isInteractive === false) headers.set("crabcode-interactive", "0");
    if (options.isDetached === true) headers.set("crabcode-detach", "1");
    const call = {
      request: { text, maxTurns, sessionId },
      headers,
      isRepeatable: key !== null,
      signal,
      handlers: { onPermission, onChoice },
    };
    return new Turn(messageStream(this.#deps, call));
  }

  /**
   * Watches one session, or all. Reconnects by itself from the last event on; a hole is told by a `server.gap`
   * event. Throws what makes no sense to repeat, such as an unknown session.
   */
  subscribe(options: SubscribeOptions = {}): AsyncIterable<CrabcodeClientEvent> {
    const { sessionId = "", afterSeq: after, signal, onPermission, onChoice } = options;
    const handlers = { onPermission, onChoice };
    return subscription(this.#deps, { sessionId, after, headers: sessionHeaders(options), signal, handlers });
  }

  /** Answers a `permission_request`. Throws when it is settled already, or was never asked. */
  async respondPermission(
    { sessionId, toolUseId, agentId }: QuestionAddress,
    decision: PermissionDecision,
  ): Promise<void> {
    const allowed = decision !== "deny";
    const alwaysAllow = decision === "always";
    const agent = agentId === undefined ? {} : { agentId };
    await mapped(this.#client.respondPermission({ sessionId, toolUseId, allowed, alwaysAllow, ...agent }));
  }

  /** Answers a `choice_request`; null cancels it. */
  async respondChoice(
    { sessionId, toolUseId, agentId }: QuestionAddress,
    selected: readonly string[] | null,
  ): Promise<void> {
    const agent = agentId === undefined ? {} : { agentId };
    const answer = { selected: [...(selected ?? [])], cancelled: selected === null };
    await mapped(this.#client.respondChoice({ sessionId, toolUseId, ...answer, ...agent }));
  }

  /** The models a session can use. */
  async listModels({ sessionId = "", signal }: CallSettings = {}): Promise<ModelList> {
    let current: string | undefined;
    const onHeader = (header: Headers): void => {
      const value = header.get("crabcode-current-model");
      current = value === null ? undefined : decodeURIComponent(value);
    };
    const { models } = await mapped(
      this.#client.listModels({ sessionId }, { ...withSignal(signal), onHeader }),
    );
    return { models: models.map(({ name, description }) => ({ name, description })), current };
  }

  /** Uses another model from the next turn on. */
  async switchModel(name: string, { sessionId = "", signal }: CallSettings = {}): Promise<void> {
    await mapped(this.#client.switchModel({ name, sessionId }, withSignal(signal)));
  }

  /** Plan mode lets the model read but not write. */
  async switchMode(mode: "agent" | "plan", { sessionId = "", signal }: CallSettings = {}): Promise<void> {
    await mapped(this.#client.switchMode({ mode, sessionId }, withSignal(signal)));
  }

  /** Whether the server takes calls; throws kind `unavailable` while it shuts down. */
  async health({ signal }: Pick<CallSettings, "signal"> = {}): Promise<{ status: string; version: string }> {
    const { status, version } = await mapped(this.#client.healthCheck({}, withSignal(signal)));
    return { status, version };
  }
}
