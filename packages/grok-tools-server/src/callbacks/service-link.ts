import { type Client, createClient } from "@connectrpc/connect";
import { abortable, type Clock, linkSignals, sleep, TriviumError } from "@trivium/core";
import type { SubagentOutcome, SubagentRun } from "@trivium/grok-tools-runtime";
import {
  type CallbackLink,
  type CallbackTarget,
  pinnedLookup,
  type ResolveHost,
  type SentNotification,
} from "@trivium/grok-tools-runtime/internal";
import { GrokToolsCallbackService } from "@trivium/proto/grok-tools";
import { fromConnectError } from "@trivium/rpc";
import { createNodeTransport, type NodeTransport } from "@trivium/rpc/node";
import { type AddressPolicy, checkedAddresses, toBaseUrl } from "./callback-address.ts";
import { probePeer } from "./probe-peer.ts";
import { fromResultMessage, toSpawnRequest } from "./to-spawn-request.ts";

const CONNECT_MS = 5_000;
/** A host that takes longer over one notification has not taken it. */
const NOTIFY_MS = 10_000;
/** Between two attempts to connect; doubles. */
const FIRST_PAUSE_MS = 200;
const MAX_PAUSE_MS = 5_000;

/** What a link needs besides its target. */
export interface ServiceLinkOptions extends AddressPolicy {
  readonly resolve: ResolveHost;
  readonly clock: Clock;
  /** Silence after which the connection is probed, and time for the answer. */
  readonly pingIntervalMs: number;
  readonly pingTimeoutMs: number;
}

/** One client's callback service over gRPC, connected when it is needed. */
export class ServiceLink implements CallbackLink {
  readonly #target: CallbackTarget;
  readonly #options: ServiceLinkOptions;
  readonly #headers: Headers;
  readonly #end = new AbortController();
  #addresses: readonly string[] | undefined;
  #connection: { transport: NodeTransport; client: Client<typeof GrokToolsCallbackService> } | undefined;
  #isConnected = false;
  #connecting: Promise<void> | undefined;
  #pauseMs = 0;

  constructor(target: CallbackTarget, options: ServiceLinkOptions) {
    this.#target = target;
    this.#options = options;
    this.#headers = new Headers();
    const { secret, sessionId } = target;
    if (secret !== undefined) this.#headers.set("authorization", `Bearer ${toHeaderText("secret", secret)}`);
    this.#headers.set("x-grok-session-id", toHeaderText("session id", sessionId));
  }

  async connect(signal: AbortSignal): Promise<void> {
    using link = linkSignals([signal, this.#end.signal]);
    link.signal.throwIfAborted();
    if (this.#isConnected) return;
    // Whoever asks meanwhile waits for the same attempt, which no single caller can give up for the others.
    this.#connecting ??= this.#connect().finally(() => {
      this.#connecting = undefined;
    });
    await abortable(this.#connecting, link.signal);
  }

  async ready(signal: AbortSignal): Promise<void> {
    using link = linkSignals([signal, this.#end.signal]);
    for (;;) {
      try {
        await this.connect(link.signal);
        return;
      } catch (cause) {
        link.signal.throwIfAborted();
        if (!TriviumError.isInstance(cause) || cause.kind !== "unavailable") throw cause;
      }
      this.#pauseMs = Math.min(MAX_PAUSE_MS, Math.max(FIRST_PAUSE_MS, this.#pauseMs * 2));
      await sleep(this.#options.clock, this.#pauseMs, link.signal);
    }
  }

  async notify({ sequence, notificationJson }: SentNotification, signal: AbortSignal): Promise<void> {
    const { sessionId } = this.#target;
    await this.#call(signal, async (client, options) => {
      const message = { sessionId, notificationJson, sequence: BigInt(sequence) };
      await client.sendNotification(message, { ...options, timeoutMs: NOTIFY_MS });
    });
  }

  /** The call lasts as long as the child and has no deadline; a host that vanishes is found out by pings. */
  async run(child: SubagentRun, signal: AbortSignal): Promise<SubagentOutcome> {
    return await this.#call(signal, async (client, options) =>
      fromResultMessage(await client.spawnSubagent(toSpawnRequest(child), options)),
    );
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#end.abort(new TriviumError("cancelled", "the session is closed"));
    await this.#connecting?.catch(() => {});
    await this.#connection?.transport[Symbol.asyncDispose]();
  }

  async #connect(): Promise<void> {
    const { clock, pingIntervalMs, pingTimeoutMs, resolve } = this.#options;
    const url = toBaseUrl(this.#target.address);
    using limit = linkSignals([this.#end.signal], { timeoutMs: CONNECT_MS, clock });
    try {
      const hasSecret = this.#target.secret !== undefined;
      // Looked up once: a second answer of the name server cannot lead elsewhere.
      this.#addresses ??= await checkedAddresses(url, this.#options, {
        hasSecret,
        resolve,
        signal: limit.signal,
      });
      const lookup = pinnedLookup(this.#addresses);
      await probePeer(url, { lookup, signal: limit.signal });
      if (this.#connection === undefined) {
        const transport = createNodeTransport({
          baseUrl: url.href.replace(/\/$/, ""),
          lookup,
          connectTimeoutMs: CONNECT_MS,
          pingIntervalMs,
          pingTimeoutMs,
        });
        this.#connection = { transport, client: createClient(GrokToolsCallbackService, transport) };
      }
      this.#isConnected = true;
      this.#pauseMs = 0;
    } catch (cause) {
      this.#end.signal.throwIfAborted();
      if (!limit.signal.aborted) throw cause;
      throw new TriviumError(
        "unavailable",
        `no gRPC service answers at ${url.protocol}//${url.host} in ${CONNECT_MS} ms`,
        {
          cause,
        },
      );
    }
  }

  async #call<Result>(
    signal: AbortSignal,
    call: (
      client: Client<typeof GrokToolsCallbackService>,
      options: { headers: Headers; signal: AbortSignal },
    ) => Promise<Result>,
  ): Promise<Result> {
    await this.connect(signal);
    const connection = this.#connection;
    if (connection === undefined)
      throw new TriviumError("unavailable", "the callback service is not connected");
    try {
      return await call(connection.client, { headers: this.#headers, signal });
    } catch (thrown) {
      signal.throwIfAborted();
      const error = fromConnectError(thrown);
      // The next use connects anew, and finds out whether anybody is there.
      if (error.kind === "unavailable") this.#isConnected = false;
      throw error;
    }
  }
}

/** Metadata carries visible ASCII only. The text itself may be secret. */
function toHeaderText(name: string, text: string): string {
  if (/^[\x20-\x7e]*$/.test(text)) return text;
  throw new TriviumError("invalidInput", `the ${name} has characters that metadata cannot carry`);
}
