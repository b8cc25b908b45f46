import { create, type MessageInitShape } from "@bufbuild/protobuf";
import type { HandlerContext } from "@connectrpc/connect";
import type { OutputMode, SessionEvent, SessionOptions } from "@trivium/code-mode-runtime";
import { abortReason, TriviumError } from "@trivium/core";
import {
  type CloseSessionRequest,
  type CloseSessionResponse,
  CloseSessionResponseSchema,
  type OpenSessionRequest,
  OutputTruncation,
  SessionEventSchema,
  type SessionEvent as WireSessionEvent,
} from "@trivium/proto/code-mode";
import { toNumber } from "./numbers.ts";
import { openServerTools } from "./server-tools.ts";
import { type CodeModeServiceDeps, requireSession } from "./service-deps.ts";
import { whenAborted } from "./when-aborted.ts";

type EventInit = NonNullable<MessageInitShape<typeof SessionEventSchema>["event"]>;

/** This host understands `catalog_revision`. */
const CATALOG_SUPPORT = 1;

/** OpenSession: the stream is the lease; however it ends, the session ends with it. */
export async function* openSession(
  { runtime, serverTools: port }: CodeModeServiceDeps,
  request: OpenSessionRequest,
  context: Pick<HandlerContext, "signal" | "requestHeader" | "responseHeader">,
): AsyncGenerator<WireSessionEvent> {
  const { signal } = context;
  const options = toSessionOptions(request);
  await using opening = new AsyncDisposableStack();
  const serverTools = opening.use((await openServerTools(port, context)) ?? null) ?? undefined;
  const session = runtime.openSession({ ...options, serverTools });
  // They are the session's now.
  opening.move();
  using _ = whenAborted(signal, () => void session.close());
  try {
    const outputTruncation =
      options.outputMode === "bounded" ? OutputTruncation.BOUNDED : OutputTruncation.UNSPECIFIED;
    const { sessionId } = session;
    yield toEvent({
      case: "opened",
      value: { sessionId, outputTruncation, catalogSupport: CATALOG_SUPPORT },
    });
    for await (const event of session.events) {
      const wireEvent = toWireEvent(event);
      if (wireEvent !== undefined) yield toEvent(wireEvent);
    }
    if (signal.aborted) throw abortReason(signal);
  } finally {
    await session.close();
  }
}

/** CloseSession: answers when the cells are gone. */
export async function closeSession(
  { runtime }: CodeModeServiceDeps,
  request: CloseSessionRequest,
): Promise<CloseSessionResponse> {
  await requireSession(runtime, request.sessionId).close();
  return create(CloseSessionResponseSchema);
}

function toSessionOptions(request: OpenSessionRequest): SessionOptions {
  const { cellExecutionLimits: limits, maxPendingDelegateCalls, heartbeatIntervalS } = request;
  const outputMode = toOutputMode(request.outputTruncation);
  if (maxPendingDelegateCalls === 0) {
    throw new TriviumError("invalidInput", "max_pending_delegate_calls is 0; it must be at least 1");
  }
  return {
    outputMode,
    maxYieldTimeMs: toNumber(limits?.maxYieldTimeMs),
    maxHeapSizeBytes: toNumber(limits?.maxHeapSizeBytes),
    maxPendingCalls: maxPendingDelegateCalls,
    heartbeatIntervalMs: (heartbeatIntervalS ?? 0) * 1000,
  };
}

function toOutputMode(truncation: OutputTruncation): OutputMode {
  switch (truncation) {
    case OutputTruncation.UNSPECIFIED:
    case OutputTruncation.OFF:
      return "unbounded";
    case OutputTruncation.BOUNDED:
      return "bounded";
    default:
      throw new TriviumError(
        "invalidInput",
        `output_truncation ${String(truncation)} is unknown; there are off (1) and bounded (2)`,
      );
  }
}

function toEvent(event: EventInit): WireSessionEvent {
  return create(SessionEventSchema, { event });
}

/** Undefined for what this contract has no word for. */
function toWireEvent(event: SessionEvent): EventInit | undefined {
  switch (event.type) {
    case "tool-call-cancelled":
      return { case: "toolCallCancelled", value: { invocationId: event.invocationId } };
    case "notified": {
      const { notificationId, executionId, cellId, callId, text } = event;
      return { case: "notification", value: { notificationId, executionId, cellId, callId, text } };
    }
    case "notification-cancelled":
      return undefined;
    case "cell-closed": {
      const { executionId, cellId } = event;
      const finalToolCallSequence = BigInt(event.finalToolCallSequence);
      return { case: "cellClosed", value: { executionId, cellId, finalToolCallSequence } };
    }
    case "heartbeat":
      return { case: "heartbeat", value: {} };
  }
}
