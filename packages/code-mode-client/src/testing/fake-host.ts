import type { MessageInitShape } from "@bufbuild/protobuf";
import { create } from "@bufbuild/protobuf";
import {
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
  readonly executed: ExecuteRequest[] = [];
  readonly subscribed: SubscribeToToolCallsRequest[] = [];
  readonly completed: CompleteToolCallRequest[] = [];
  readonly acknowledged: string[] = [];
  readonly cancelledWaits: string[] = [];
  closedCount = 0;
  readonly lease: AsyncQueue<SessionEvent> = new AsyncQueue<SessionEvent>(1000);
  readonly calls: AsyncQueue<ToolCall> = new AsyncQueue<ToolCall>(1000);
  #cells = 0;

  /** @param handlers RPCs that behave in another way than the simple one */
  constructor(handlers: Handlers = {}) {
    this.transport = createRouterTransport((router: ConnectRouter) => {
      router.service(CodeModeHost, { ...this.#handlers(), ...handlers });
    });
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
    const { lease, calls, opened, executed, subscribed, completed, acknowledged, cancelledWaits } = this;
    const nextCell = (): string => this.nextCell();
    const complete = (request: ExecuteRequest): OutcomeInit => this.complete(request, request.source);
    const closed = (): void => {
      this.closedCount++;
    };
    return {
      async *openSession(request, { signal }) {
        opened.push(request);
        signal.addEventListener("abort", () => void lease.return());
        yield { event: { case: "opened", value: { sessionId: SESSION_ID, catalogSupport: 1 } } };
        yield* lease;
      },
      async *subscribeToToolCalls(request, { signal }) {
        subscribed.push(request);
        signal.addEventListener("abort", () => void calls.return());
        yield* calls;
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
        lease.end();
        calls.end();
        return {};
      },
      getProcessMetrics: () => ({}),
    };
  }
}
