import { create, type MessageInitShape } from "@bufbuild/protobuf";
import { type CallOptions, type Client, ConnectError } from "@connectrpc/connect";
import {
  type CodeModeHost,
  type CompleteToolCallRequest,
  type ExecuteRequestSchema,
  type ExecutionOutcome,
  type OpenSessionRequestSchema,
  type SessionEvent,
  type SessionOpened,
  type SubscribeToToolCallsRequestSchema,
  type ToolCall,
  ToolCallFailedSchema,
  ToolCallSucceededSchema,
} from "@trivium/proto/code-mode";

/** The raw client of the service under test. */
export type HostClient = Client<typeof CodeModeHost>;

/** How a call or stream ended. `status` is null when this side cut it. */
export interface CallEnd {
  readonly status: number | null;
  readonly message: string;
}

/** A stream that is read in the background. */
export interface ObservedStream {
  readonly done: Promise<CallEnd>;
  /** The host has answered: with headers, or with the end. */
  readonly answered: Promise<void>;
  end: CallEnd | undefined;
  drop(): void;
}

export interface ObservedExecution extends ObservedStream {
  readonly messages: string[];
  cellId: string | undefined;
  outcome: ExecutionOutcome | undefined;
}

export interface ObservedCall extends ToolCall {
  subscription?: string;
}

/** Cuts the call after a time, as a client does that hangs up. */
export async function callEnd(
  run: (options: CallOptions) => Promise<void>,
  timeoutMs: number,
): Promise<CallEnd> {
  const controller = new AbortController();
  const timer = setTimeout(() => controller.abort(), timeoutMs);
  try {
    await run({ signal: controller.signal });
    return { status: 0, message: "" };
  } catch (thrown) {
    return controller.signal.aborted ? { status: null, message: "" } : toEnd(thrown);
  } finally {
    clearTimeout(timer);
  }
}

export function toEnd(thrown: unknown): CallEnd {
  const error = ConnectError.from(thrown);
  return { status: error.code, message: error.rawMessage };
}

/** A session whose streams are recorded. */
export class ObservedSession {
  readonly client: HostClient;
  readonly opened: SessionOpened;
  readonly events: (SessionEvent["event"] | { readonly case: "tool_heartbeat" })[];
  readonly calls: ObservedCall[] = [];
  readonly lease: ObservedStream;
  readonly #wake: Wake;

  private constructor(
    client: HostClient,
    parts: Pick<ObservedSession, "opened" | "events" | "lease"> & { wake: Wake },
  ) {
    this.client = client;
    this.opened = parts.opened;
    this.events = parts.events;
    this.lease = parts.lease;
    this.#wake = parts.wake;
  }

  /** The open session, or how the opening ended. */
  static async open(
    client: HostClient,
    init: MessageInitShape<typeof OpenSessionRequestSchema>,
  ): Promise<ObservedSession | CallEnd> {
    const wake = new Wake();
    const events: SessionEvent["event"][] = [];
    const lease = observe(
      (options) => client.openSession(init, options),
      ({ event }) => {
        events.push(event);
        wake.all();
      },
    );
    void lease.done.then(() => wake.all());
    await wake.until(() => events.length > 0 || lease.end !== undefined, 15_000);
    const [first] = events;
    if (first?.case !== "opened") return lease.end ?? { status: null, message: "no answer" };
    return new ObservedSession(client, { opened: first.value, events, lease, wake });
  }

  get sessionId(): string {
    return this.opened.sessionId;
  }

  until(condition: () => boolean, timeoutMs: number): Promise<boolean> {
    return this.#wake.until(condition, timeoutMs);
  }

  subscribe(
    init: MessageInitShape<typeof SubscribeToToolCallsRequestSchema>,
    onCall: (call: ObservedCall) => void = () => {},
  ): ObservedStream {
    return observe(
      (options) => this.client.subscribeToToolCalls({ sessionId: this.sessionId, ...init }, options),
      (call: ObservedCall) => {
        if (call.heartbeat === undefined) {
          this.calls.push(call);
          onCall(call);
        } else this.events.push({ case: "tool_heartbeat" });
        this.#wake.all();
      },
    );
  }

  execute(init: MessageInitShape<typeof ExecuteRequestSchema> & { executionId: string }): ObservedExecution {
    const request = { sessionId: this.sessionId, toolCallId: `call-${init.executionId}`, ...init };
    const messages: string[] = [];
    const stream = observe(
      (options) => this.client.execute(request, options),
      ({ event }) => {
        messages.push(event.case ?? "nothing");
        if (event.case === "started") execution.cellId = event.value.cellId;
        if (event.case === "outcome") execution.outcome = event.value;
        this.#wake.all();
      },
    );
    const execution: ObservedExecution = Object.assign(stream, {
      messages,
      cellId: undefined,
      outcome: undefined,
    });
    void stream.done.then(() => this.#wake.all());
    return execution;
  }

  complete(invocationId: string, outcome: CompleteToolCallRequest["outcome"]): Promise<CallEnd> {
    const request = { sessionId: this.sessionId, invocationId, outcome };
    return callEnd(async (options) => void (await this.client.completeToolCall(request, options)), 15_000);
  }
}

export function succeeded(outputJson: Uint8Array): CompleteToolCallRequest["outcome"] {
  return { case: "succeeded", value: create(ToolCallSucceededSchema, { outputJson }) };
}

export function failed(message: string): CompleteToolCallRequest["outcome"] {
  return { case: "failed", value: create(ToolCallFailedSchema, { message }) };
}

function observe<Message>(
  start: (options: CallOptions) => AsyncIterable<Message>,
  take: (message: Message) => void,
): ObservedStream {
  const controller = new AbortController();
  const answered = Promise.withResolvers<void>();
  const read = async (): Promise<CallEnd> => {
    try {
      const options = { signal: controller.signal, onHeader: () => answered.resolve() };
      for await (const message of start(options)) take(message);
      return { status: 0, message: "" };
    } catch (thrown) {
      return controller.signal.aborted ? { status: null, message: "" } : toEnd(thrown);
    }
  };
  const done = read();
  const stream: ObservedStream = {
    done,
    answered: answered.promise,
    end: undefined,
    drop: () => controller.abort(),
  };
  void done.then((end) => {
    stream.end = end;
    answered.resolve();
  });
  return stream;
}

/** Lets tests wait for a condition that streams make true. */
class Wake {
  readonly #checks = new Set<() => void>();

  all(): void {
    for (const check of this.#checks) check();
  }

  until(condition: () => boolean, timeoutMs: number): Promise<boolean> {
    if (condition()) return Promise.resolve(true);
    return new Promise((resolve) => {
      const settle = (isTrue: boolean): void => {
        clearTimeout(timer);
        this.#checks.delete(check);
        resolve(isTrue);
      };
      const check = (): void => {
        if (condition()) settle(true);
      };
      const timer = setTimeout(() => settle(false), timeoutMs);
      this.#checks.add(check);
    });
  }
}
