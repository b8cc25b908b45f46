import type { Transport } from "@connectrpc/connect";
import { type Call, callUnary, isStreaming, readEvents, type Status } from "./calls.ts";
import { fillIn } from "./fill-in.ts";
import { type Captures, mismatchOf } from "./matcher.ts";
import type { Place } from "./place.ts";
import { RecordedStream } from "./recorded-stream.ts";
import type { Action, CallAction, EventWait, Json, RpcName } from "./vector.ts";
import type { VectorServer } from "./vector-server.ts";

/** Where a conversation is played. */
export interface Stage {
  readonly server: VectorServer;
  /** Opens a transport to the server as it is now. */
  readonly openTransport: (url: string) => Transport;
  readonly place: Place;
  /** Put into every request that has none; "" for the default session. */
  readonly sessionId: string;
  /** Request metadata of every call. */
  readonly metadata?: Readonly<Record<string, string>>;
}

/** A stream and what is known about how it must end. */
export interface PlayedStream {
  readonly rpc: RpcName;
  readonly recorded: RecordedStream;
  /** Undefined when its end says nothing: it was cancelled, or its server was killed. */
  expectedEnd: Status | undefined;
}

const WAIT_MS = 30_000;

/** Plays the actions of a client, one after the other, and keeps what it saw. */
export class Player {
  readonly captures: Captures;
  readonly streams = new Map<string, PlayedStream>();
  /** What the client saw otherwise than expected. */
  readonly faults: unknown[] = [];
  readonly #stage: Stage;
  #transport: Transport;

  constructor(stage: Stage) {
    this.#stage = stage;
    this.#transport = stage.openTransport(stage.server.url);
    this.captures = new Map([["CWD", stage.place.cwd]]);
  }

  async play(actions: readonly Action[]): Promise<void> {
    for (const action of actions) await this.#act(action);
  }

  /** Makes the session of the conversation; the default session makes itself. */
  async createSession(): Promise<void> {
    const { sessionId, place } = this.#stage;
    if (sessionId === "") return;
    await this.#firstEvent({
      "crabcode-create-session": "1",
      "crabcode-cwd": encodeURIComponent(place.cwd).replaceAll("%2F", "/"),
    });
  }

  /** The mode of the session as a new subscription tells it. */
  async mode(): Promise<unknown> {
    const { properties } = await this.#firstEvent();
    return (properties as Json)["mode"];
  }

  /** The transport to the server as it is now. */
  get transport(): Transport {
    return this.#transport;
  }

  /** A unary call outside the script of actions. */
  async call(rpc: RpcName, request: Json): Promise<Json | undefined> {
    const { response } = await callUnary(this.#transport, this.#filledIn({ rpc, request }));
    return response;
  }

  /** Waits for the end of a stream; what is wrong with how it ended. */
  async endFaults(name: string): Promise<unknown[]> {
    const { recorded, expectedEnd } = this.stream(name);
    if (expectedEnd === undefined) return [];
    const status = await within(recorded.end(), () => {
      const seen = recorded.events.map((event) => JSON.stringify(event)).join("\n");
      return `${name} does not end; it has seen\n${seen}`;
    });
    const fault = statusFault(expectedEnd, status);
    return fault === undefined ? [] : [{ stream: name, ...fault }];
  }

  /** Leaves every stream. */
  leave(): void {
    for (const { recorded } of this.streams.values()) recorded.cancel();
  }

  /** A stream by its name. */
  stream(name: string): PlayedStream {
    const stream = this.streams.get(name);
    if (stream === undefined) throw new Error(`there is no stream ${name}`);
    return stream;
  }

  async #firstEvent(metadata: Readonly<Record<string, string>> = {}): Promise<Json> {
    const call = this.#filledIn({ rpc: "SubscribeEvents", request: {}, metadata });
    const stream = new RecordedStream((reader) => readEvents(this.#transport, call, reader));
    await within(
      stream.find({ stream: "", type: "server.connected" }, new Map()),
      () => "no server.connected",
    );
    stream.cancel();
    const [first] = stream.events;
    if (first === undefined) throw new Error("the stream has no first event");
    return first;
  }

  async #act(action: Action): Promise<void> {
    if (action.when !== undefined) await this.#waitFor(action.when);
    if ("rpc" in action) await (isStreaming(action.rpc) ? this.#open(action) : this.#call(action));
    else if ("cancel" in action) this.#cancel(action.cancel);
    else if ("wait" in action) await this.#waitFor(action.wait);
    else if ("release" in action) await this.#stage.place.release(action.release);
    else if ("pause_ms" in action) await pause(action.pause_ms);
    else await this.#restart(action.restart);
  }

  #open({ as, ...action }: CallAction): void {
    const { rpc } = action;
    const call = this.#filledIn(action);
    const transport = this.#transport;
    this.streams.set(as ?? `stream ${this.streams.size + 1}`, {
      rpc,
      recorded: new RecordedStream((reader) => readEvents(transport, call, reader)),
      expectedEnd: endOf(action),
    });
  }

  async #call(action: CallAction): Promise<void> {
    const { as, match } = action;
    const { status, response } = await within(
      callUnary(this.#transport, this.#filledIn(action)),
      () => `no answer to ${JSON.stringify(action)}`,
    );
    const fault = statusFault(endOf(action), status);
    if (fault !== undefined) this.faults.push({ call: action, ...fault });
    if (response === undefined) return;
    for (const [field, value] of Object.entries(response)) {
      if (as !== undefined) this.captures.set(`${as}.${field}`, value);
    }
    if (match === undefined) return;
    const mismatch = mismatchOf(fillIn(match, this.captures), response, this.captures);
    if (mismatch !== undefined) this.faults.push({ call: action, ...mismatch, response });
  }

  #cancel(name: string): void {
    const stream = this.stream(name);
    stream.expectedEnd = undefined;
    stream.recorded.cancel();
  }

  async #restart(signal: "SIGKILL" | "SIGTERM"): Promise<void> {
    for (const stream of this.streams.values()) {
      if (stream.recorded.status === undefined) stream.expectedEnd = undefined;
    }
    await this.#stage.server.restart(signal);
    this.#transport = this.#stage.openTransport(this.#stage.server.url);
  }

  async #waitFor(wait: EventWait & { readonly headers?: true; readonly end?: true }): Promise<void> {
    const { recorded } = this.stream(wait.stream);
    const match = wait.match === undefined ? {} : { match: fillIn(wait.match, this.captures) };
    const coming = (): Promise<unknown> => {
      if (wait.headers === true) return recorded.headers();
      if (wait.end === true) return recorded.end();
      return recorded.find({ ...wait, ...match }, this.captures);
    };
    await within(coming(), () => {
      const seen = recorded.events.map((event) => JSON.stringify(event)).join("\n");
      return `waited in vain for ${JSON.stringify(wait)}; ${wait.stream} has seen\n${seen}`;
    });
  }

  /** The call with placeholders replaced, the session and the metadata of every call put in. */
  #filledIn({ rpc, request, metadata }: Call): Call {
    const { sessionId, metadata: common } = this.#stage;
    const hasSession = sessionId === "" || "session_id" in request;
    return {
      rpc,
      request: fillIn(hasSession ? request : { ...request, session_id: sessionId }, this.captures),
      metadata: { ...common, ...fillIn(metadata ?? {}, this.captures) },
    };
  }
}

/** What is wrong with how a call ended; undefined when it is as expected. */
function statusFault(expected: Status, seen: Status): object | undefined {
  const fits =
    expected.code === seen.code && (expected.reason === undefined || expected.reason === seen.reason);
  return fits ? undefined : { expected, seen };
}

/** Waits for a promise, but not for ever. */
async function within<Value>(promise: Promise<Value>, describe: () => string): Promise<Value> {
  let timer: NodeJS.Timeout | undefined;
  const tooLate = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error(describe())), WAIT_MS);
  });
  try {
    return await Promise.race([promise, tooLate]);
  } finally {
    clearTimeout(timer);
  }
}

/** Real time, where a case asks for it. */
export function pause(timeMs: number): Promise<void> {
  return new Promise((resolve) => {
    setTimeout(resolve, timeMs);
  });
}

function endOf({
  expect_code = "OK",
  expect_reason,
}: Pick<CallAction, "expect_code" | "expect_reason">): Status {
  return { code: expect_code, ...(expect_reason !== undefined && { reason: expect_reason }) };
}
