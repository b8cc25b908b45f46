import { RecentIds } from "@trivium/code-mode-runtime";
import { TriviumError } from "@trivium/core";
import type { ClientMessage, DelegateResult, OperationRequest } from "./client-message.ts";
import type { ConnectionDeps } from "./connection-deps.ts";
import { decodeClientMessage } from "./decode-client-message.ts";
import { Delegates } from "./delegates.ts";
import { type OperationResult, responseMessage } from "./host-message.ts";
import type { Lane } from "./lane.ts";
import { assertLane, type LaneName } from "./lane-rules.ts";
import { Outbox } from "./outbox.ts";
import { ProtocolError } from "./protocol-error.ts";
import { toErrorResult } from "./reply.ts";
import { RequestIds } from "./request-ids.ts";
import type { SessionPeer } from "./session-peer.ts";
import { toToolCallResult } from "./tool-call-result.ts";
import { V1Session } from "./v1-session.ts";

const MEBIBYTE = 1024 * 1024;
const REMEMBERED_SESSION_IDS = 4096;
const unread = { pauseBytes: 64 * MEBIBYTE, maxBytes: 256 * MEBIBYTE };

/** The lanes of a connection whose hello has been answered. */
export interface ConnectionLanes {
  readonly control: Lane;
  /** Set: large messages have a lane of their own, and every message must use the right one. */
  readonly bulk?: Lane | undefined;
}

/** One client after its handshake: its sessions, requests and unanswered calls. */
export class Connection implements SessionPeer {
  readonly delegates: Delegates;
  readonly logger: ConnectionDeps["logger"];
  readonly #deps: ConnectionDeps;
  readonly #lanes: ConnectionLanes;
  readonly #outbox: Outbox;
  readonly #requestIds = new RequestIds();
  /** The sessions of active requests that observe a cell. */
  readonly #observers = new Map<bigint, V1Session>();
  readonly #sessions = new Map<string, V1Session>();
  readonly #sessionIds = new RecentIds(REMEMBERED_SESSION_IDS);
  readonly #end = Promise.withResolvers<void>();
  readonly #closing = new Set<Promise<void>>();
  #hasEnded = false;

  constructor(deps: ConnectionDeps, lanes: ConnectionLanes, maxDelegates: number) {
    this.#deps = deps;
    this.logger = deps.logger;
    this.#lanes = lanes;
    this.delegates = new Delegates(maxDelegates);
    this.#outbox = new Outbox(unread, (error) => this.#end.reject(error));
  }

  get unsentBytes(): number {
    return this.#outbox.unsentBytes;
  }

  sendControl(json: string): void {
    this.#outbox.send(this.#lanes.control, json);
  }

  sendBulk(json: string): void {
    this.#outbox.send(this.#lanes.bulk ?? this.#lanes.control, json);
  }

  /**
   * Serves the client until it ends one of its lanes, or `signal` aborts. Its sessions are gone then.
   *
   * @throws {@link ProtocolError} when the client broke the protocol; what the lane reports when that broke.
   */
  async serve(signal: AbortSignal): Promise<void> {
    const stop = (): void => this.#end.resolve();
    signal.addEventListener("abort", stop, { once: true });
    if (signal.aborted) stop();
    const { control, bulk } = this.#lanes;
    this.#read(control, bulk === undefined ? "only" : "control");
    if (bulk !== undefined) this.#read(bulk, "bulk");
    try {
      await this.#end.promise;
    } finally {
      signal.removeEventListener("abort", stop);
      // From here on nothing is heard or said any more, whatever still happens.
      this.#hasEnded = true;
      this.#outbox.close();
      const sessions = [...this.#sessions.values()].map((session) => session.close());
      await Promise.all([...sessions, ...this.#closing]);
    }
  }

  #read(lane: Lane, name: LaneName): void {
    const read = async (): Promise<void> => {
      for await (const payload of lane.payloads) {
        if (this.#hasEnded) return;
        const message = decodeClientMessage(payload);
        assertLane(message, name);
        this.#dispatch(message);
        await this.#outbox.readable();
      }
    };
    read().then(this.#end.resolve, this.#end.reject);
  }

  #dispatch(message: ClientMessage): void {
    switch (message.type) {
      case "connection/hello":
        throw new ProtocolError("a second hello");
      case "operation/request":
        this.#request(message.id, message.request);
        break;
      case "operation/cancel":
        this.#observers.get(message.id)?.cancelWait(message.id);
        break;
      case "operation/yield":
        this.#observers.get(message.id)?.yieldObservation(message.id);
        break;
      case "delegate/response":
        this.#answer(message.id, message.result);
        break;
    }
  }

  #request(id: bigint, request: OperationRequest): void {
    this.#requestIds.begin(id);
    const respond = (result: OperationResult): void => this.sendControl(responseMessage(id, result));
    this.#deps.gate
      .run(() => this.#operate(id, request))
      .then(
        (value) => {
          if (value !== undefined) respond({ status: "ok", value });
        },
        (thrown: unknown) => respond(toErrorResult(thrown, this.logger)),
      )
      .finally(() => {
        this.#observers.delete(id);
        this.#requestIds.finish(id);
      })
      .catch(this.#end.reject);
  }

  /** The value to answer with; undefined when the session has answered. */
  async #operate(id: bigint, request: OperationRequest): Promise<object | undefined> {
    if (request.method === "session/open") return this.#open(request);
    const session = this.#requireSession(request.sessionId);
    switch (request.method) {
      case "session/execute":
        this.#observers.set(id, session);
        await session.execute(id, request);
        return undefined;
      case "session/wait":
        this.#observers.set(id, session);
        await session.wait(id, request);
        return undefined;
      case "session/terminate":
        await session.terminate(id, request);
        return undefined;
      case "session/shutdown":
        this.#sessions.delete(request.sessionId);
        await this.#whileClosing(session);
        return { type: "session/closed", sessionId: request.sessionId };
    }
  }

  #open(request: Extract<OperationRequest, { readonly method: "session/open" }>): object {
    const { sessionId } = request;
    if (this.#sessions.has(sessionId)) {
      throw new TriviumError("alreadyExists", `the session ${sessionId} is open already`);
    }
    if (this.#sessionIds.has(sessionId)) {
      throw new TriviumError(
        "alreadyExists",
        `the session id ${sessionId} was used before on this connection`,
      );
    }
    const session = new V1Session(request, this.#deps.runtime, this);
    this.#sessions.set(sessionId, session);
    this.#sessionIds.add(sessionId);
    return { type: "session/ready", sessionId };
  }

  #requireSession(sessionId: string): V1Session {
    const session = this.#sessions.get(sessionId);
    if (session !== undefined) return session;
    throw new TriviumError("notFound", `no session ${sessionId} is open on this connection`);
  }

  /** A session in its shutdown is unknown to requests, and still ours to end when the client goes. */
  async #whileClosing(session: V1Session): Promise<void> {
    const closed = session.shutDown();
    const ended = Promise.race([closed, this.#end.promise.then(noop, noop)]).then(() => session.close());
    this.#closing.add(ended);
    try {
      await closed;
    } finally {
      this.#closing.delete(ended);
    }
  }

  /** Answers to unknown, answered and cancelled calls are ignored. */
  #answer(id: bigint, result: DelegateResult): void {
    const delegate = this.delegates.answer(id);
    if (delegate === undefined) return;
    const { kind, session, callId } = delegate;
    // Delivered or not: the program does not learn it, and goes on.
    if (kind === "notification") session.answerNotification(callId);
    else session.completeToolCall(callId, toToolCallResult(result));
  }
}

function noop(): void {}
