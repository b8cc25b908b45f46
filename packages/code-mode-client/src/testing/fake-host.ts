import type { MessageInitShape } from "@bufbuild/protobuf";
import { create } from "@bufbuild/protobuf";
import {
  Code,
  ConnectError,
  type ConnectRouter,
  createRouterTransport,
  type ServiceImpl,
  type Transport,
} from "@connectrpc/connect";
import { AsyncQueue } from "@trivium/core";
import {
  CodeModeHost,
  type CompleteToolCallRequest,
  type ExecuteRequest,
  type ExecutionOutcomeSchema,
  type OpenSessionRequest,
  type SessionEvent,
  SessionEventSchema,
  type SubscribeToToolCallsRequest,
  type ToolCall,
  ToolCallSchema,
} from "@trivium/proto/code-mode";

type Handlers = Partial<ServiceImpl<typeof CodeModeHost>>;
type EventInit = NonNullable<MessageInitShape<typeof SessionEventSchema>["event"]>;
type OutcomeInit = MessageInitShape<typeof ExecutionOutcomeSchema>;

export const SESSION_ID = "00000000-0000-4000-8000-000000000001";

/** The other side of the client: a host that tests play. */
export class FakeHost {
  readonly transport: Transport;
  readonly opened: OpenSessionRequest[] = [];
  readonly openHeaders: Headers[] = [];
  readonly executed: ExecuteRequest[] = [];
  readonly subscribed: SubscribeToToolCallsRequest[] = [];
  readonly completed: CompleteToolCallRequest[] = [];
  readonly acknowledged: string[] = [];
  readonly cancelledWaits: string[] = [];
  closedCount = 0;
  /** Of the newest session. */
  lease: AsyncQueue<SessionEvent> = new AsyncQueue<SessionEvent>(1000);
  calls: AsyncQueue<ToolCall> = new AsyncQueue<ToolCall>(1000);
  #cells = 0;
  #subscriptions = 0;

  /** @param handlers RPCs that behave in another way than the simple one */
  constructor(handlers: Handlers = {}) {
    this.transport = createRouterTransport((router: ConnectRouter) => {
      router.service(CodeModeHost, { ...this.#handlers(), ...handlers });
    });
  }

  /** Every stream fails. */
  breakConnection(): void {
    const lost = new ConnectError("connection lost", Code.Unavailable);
    this.lease.fail(lost);
    this.calls.fail(lost);
  }

  /** Sends an event on the lease. */
  event(event: EventInit): void {
    this.lease.tryPush(create(SessionEventSchema, { event }));
  }

  /** Sends a tool call. */
  call(init: MessageInitShape<typeof ToolCallSchema>): void {
    this.calls.tryPush(create(ToolCallSchema, { sessionId: SESSION_ID, toolKind: 1, ...init }));
  }

  /** Sends what follows a terminal outcome. */
  closeCell(executionId: string, cellId: string): void {
    this.event({ case: "cellClosed", value: { executionId, cellId, finalToolCallSequence: 0n } });
  }

  /** An Execute that completes with one text. */
  complete(request: ExecuteRequest, text: string): OutcomeInit {
    const cellId = String(this.#cells);
    this.closeCell(request.executionId, cellId);
    return {
      cellId,
      contentItems: [{ item: { case: "text", value: { text } } }],
      outcome: { case: "completed", value: {} },
      codeModeHostDurationNs: 1_500_000n,
    };
  }

  /** Takes the next cell id. */
  nextCell(): string {
    return String(++this.#cells);
  }

  #handlers(): ServiceImpl<typeof CodeModeHost> {
    const { opened, openHeaders, executed, subscribed, completed, acknowledged, cancelledWaits } = this;
    const nextCell = (): string => this.nextCell();
    const complete = (request: ExecuteRequest): OutcomeInit => this.complete(request, request.source);
    const takeLease = (): AsyncQueue<SessionEvent> => {
      if (opened.length > 1) {
        this.lease = new AsyncQueue<SessionEvent>(1000);
        this.calls = new AsyncQueue<ToolCall>(1000);
        this.#subscriptions = 0;
      }
      return this.lease;
    };
    // The calls go to the first; the others wait for calls that do not come.
    const takeCalls = (): AsyncQueue<ToolCall> =>
      ++this.#subscriptions === 1 ? this.calls : new AsyncQueue<ToolCall>(1);
    const closed = (): void => {
      this.closedCount++;
      this.lease.end();
      this.calls.end();
    };
    return {
      async *openSession(request, { signal, requestHeader }) {
        opened.push(request);
        openHeaders.push(requestHeader);
        const lease = takeLease();
        signal.addEventListener("abort", () => void lease.return());
        yield { event: { case: "opened", value: { sessionId: SESSION_ID, catalogSupport: 1 } } };
        yield* lease;
      },
      async *subscribeToToolCalls(request, { signal }) {
        subscribed.push(request);
        const queue = takeCalls();
        signal.addEventListener("abort", () => void queue.return());
        // Headers go out with the first message only.
        yield { sessionId: SESSION_ID, heartbeat: {} };
        yield* queue;
      },
      async *execute(request) {
        executed.push(request);
        const cellId = nextCell();
        yield { event: { case: "started", value: { executionId: request.executionId, cellId } } };
        yield { event: { case: "outcome", value: complete(request) } };
      },
      wait: ({ cellId }) => ({
        state: { case: "missingCell", value: { cellId, outcome: { case: "completed", value: {} } } },
      }),
      terminate: ({ cellId }) => ({
        state: { case: "liveCell", value: { cellId, outcome: { case: "terminated", value: {} } } },
      }),
      completeToolCall(request) {
        completed.push(request);
        return {};
      },
      acknowledgeNotification({ notificationId }) {
        acknowledged.push(notificationId);
        return {};
      },
      cancelWait({ waitId }) {
        cancelledWaits.push(waitId);
        return {};
      },
      yieldObservation: () => ({}),
      closeSession() {
        closed();
        return {};
      },
      getProcessMetrics: () => ({}),
    };
  }
}
