import { create } from "@bufbuild/protobuf";
import {
  Code,
  ConnectError,
  type ConnectRouter,
  createRouterTransport,
  type HandlerContext,
  type ServiceImpl,
  type Transport,
} from "@connectrpc/connect";
import { type CoreEventProto, CoreEventProtoSchema, CrabCodeService } from "@trivium/proto/crabcode";
import { ErrorInfoSchema } from "@trivium/proto/error-details";

/** One streaming call as the fake service saw it. */
export interface StreamCall {
  readonly request: { readonly text?: string; readonly maxTurns?: number; readonly sessionId: string };
  readonly headers: Headers;
  readonly signal: AbortSignal;
}

/** What a fake stream does next: an event, a failure, or a wait until the call ends. */
export type Step = Payload | Error | "wait" | Promise<void>;

/** A payload of an event. */
export interface Payload {
  readonly type: string;
  readonly [key: string]: unknown;
}

/** A service whose streams play prepared steps, one list per call. Calls beyond the lists end at once. */
export interface FakeService {
  readonly transport: Transport;
  readonly calls: StreamCall[];
  readonly answers: unknown[];
}

/** Makes a {@link FakeService}; `methods` replaces what is not a stream. */
export function fakeService(
  streams: readonly (readonly Step[])[],
  methods: Partial<ServiceImpl<typeof CrabCodeService>> = {},
): FakeService {
  const calls: StreamCall[] = [];
  const answers: unknown[] = [];
  async function* play(
    request: StreamCall["request"],
    { requestHeader, signal }: HandlerContext,
  ): AsyncGenerator<CoreEventProto, void, undefined> {
    const steps = streams[calls.length] ?? [];
    calls.push({ request, headers: requestHeader, signal });
    for (const step of steps) {
      if (step instanceof Error) throw step;
      if (step instanceof Promise) await step;
      else if (step === "wait") await untilAborted(signal);
      else yield create(CoreEventProtoSchema, { type: step.type, payloadJson: JSON.stringify(step) });
    }
  }
  const routes = (router: ConnectRouter): void => {
    router.service(CrabCodeService, {
      sendMessage: play,
      subscribeEvents: play,
      async respondPermission({ sessionId, toolUseId, allowed, alwaysAllow, agentId }) {
        answers.push({ sessionId, toolUseId, allowed, alwaysAllow, agentId });
        return {};
      },
      async respondChoice({ sessionId, toolUseId, selected, cancelled }) {
        answers.push({ sessionId, toolUseId, selected, cancelled });
        return {};
      },
      ...methods,
    });
  };
  return { transport: createRouterTransport(routes), calls, answers };
}

/** A refusal as the service words it. */
export function refusal(code: Code, reason: string): ConnectError {
  const value = { reason, domain: "crabcode" };
  return new ConnectError("refused", code, undefined, [{ desc: ErrorInfoSchema, value }]);
}

/** A connection that broke, as one of the transports reports it. */
export function connectionLoss(code: Code = Code.Unavailable): ConnectError {
  return new ConnectError("socket hang up", code);
}

/** An event of session s1 with its envelope. */
export function event(seq: number, payload: Payload, sessionId = "s1"): Step {
  return {
    ...payload,
    session_id: sessionId,
    epoch: "ep",
    seq,
    operation_id: "op",
    ts: "2026-01-01T00:00:00.000Z",
  };
}

/** A piece of text. */
export function text(seq: number, words: string, sessionId?: string): Step {
  return event(seq, { type: "stream_text", text: words }, sessionId);
}

/** The last event of a turn. */
export function turnComplete(seq: number, reason = "end_turn"): Step {
  return event(seq, {
    type: "turn_complete",
    reason,
    turn_count: 1,
    usage: { input_tokens: 10, output_tokens: 5 },
    context_used_tokens: 0,
    context_window_tokens: 0,
    context_remaining_tokens: 0,
    context_used_percent: 0,
  });
}

/** A permission question. */
export function permissionRequest(seq: number, more: object = {}): Step {
  return event(seq, {
    type: "permission_request",
    tool_name: "Bash",
    tool_input: { command: "ls" },
    tool_use_id: "c1",
    reason: null,
    permission_key: "Bash(ls)",
    agent_id: null,
    request_kind: "tool",
    ...more,
  });
}

/** The result of call c1. */
export function toolResult(seq: number): Step {
  return event(seq, {
    type: "tool_result",
    tool_use_id: "c1",
    tool_name: "Bash",
    result: "ok",
    is_error: false,
    result_for_display: null,
    tool_input: {},
    agent_id: null,
  });
}

/** First event of a subscription to s1. */
export function connected(seq: number): Step {
  return { type: "server.connected", properties: { session_id: "s1", epoch: "ep", seq, model: "m" } };
}

function untilAborted(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) resolve();
    else signal.addEventListener("abort", () => resolve(), { once: true });
  });
}
