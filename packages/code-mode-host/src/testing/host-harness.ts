import type { MessageInitShape } from "@bufbuild/protobuf";
import { type CallOptions, type Client, createClient, createRouterTransport } from "@connectrpc/connect";
import { type CodeModeLimits, type CodeModeRuntime, createCodeModeRuntime } from "@trivium/code-mode-runtime";
import { ScriptedEngine } from "@trivium/code-mode-runtime/testing";
import { silentLogger } from "@trivium/core";
import { ManualClock, sequentialIds } from "@trivium/core/testing";
import {
  CodeModeHost,
  type ExecuteEvent,
  type ExecuteRequestSchema,
  type OpenSessionRequestSchema,
  type SessionEvent,
  type SubscribeToToolCallsRequestSchema,
  type ToolCall,
} from "@trivium/proto/code-mode";
import { errorInterceptor } from "@trivium/rpc";
import { codeModeService } from "../code-mode-service.ts";

/** A host over a scripted engine, and its client, in one process. */
export interface HostHarness {
  readonly clock: ManualClock;
  readonly engine: ScriptedEngine;
  readonly runtime: CodeModeRuntime;
  readonly client: Client<typeof CodeModeHost>;
  readonly open: (request?: MessageInitShape<typeof OpenSessionRequestSchema>) => Promise<OpenLease>;
}

/** A stream that is read in the background. */
export interface ReadStream<Message> {
  readonly messages: Message[];
  /** Resolves with the error the stream ended with, undefined for a clean end. */
  readonly ended: Promise<unknown>;
  /** The client resets the stream. */
  readonly reset: () => void;
  /** Resolves when the stream has brought so many messages. */
  readonly until: (count: number) => Promise<Message[]>;
}

/** An open session. */
export interface OpenLease extends ReadStream<SessionEvent> {
  readonly sessionId: string;
  readonly execute: (request: MessageInitShape<typeof ExecuteRequestSchema>) => ReadStream<ExecuteEvent>;
  readonly subscribe: (
    request?: MessageInitShape<typeof SubscribeToToolCallsRequestSchema>,
  ) => ReadStream<ToolCall>;
}

export function createHostHarness(
  options: { limits?: Partial<CodeModeLimits>; maxRequests?: number } = {},
): HostHarness {
  const clock = new ManualClock();
  const engine = new ScriptedEngine();
  const { limits, ...serviceOptions } = options;
  const runtime = createCodeModeRuntime({
    engine,
    clock,
    ids: sequentialIds(),
    logger: silentLogger,
    ...(limits !== undefined && { limits }),
  });
  const transport = createRouterTransport(codeModeService({ runtime, ...serviceOptions }), {
    router: { interceptors: [errorInterceptor] },
  });
  const client = createClient(CodeModeHost, transport);
  return {
    clock,
    engine,
    runtime,
    client,
    async open(request = {}) {
      const lease = readStream((call) => client.openSession(request, call));
      const [first] = await lease.until(1);
      if (first?.event.case !== "opened") throw new Error("the first event is not opened");
      const { sessionId } = first.event.value;
      return {
        ...lease,
        sessionId,
        execute: (init) =>
          readStream((call) => client.execute({ sessionId, toolCallId: "call", ...init }, call)),
        subscribe: (init = {}) =>
          readStream((call) => client.subscribeToToolCalls({ sessionId, ...init }, call)),
      };
    },
  };
}

/** Reads a stream to its end. */
export function readStream<Message>(
  start: (options: CallOptions) => AsyncIterable<Message>,
): ReadStream<Message> {
  const controller = new AbortController();
  const messages: Message[] = [];
  let waiters: (() => void)[] = [];
  const wake = (): void => {
    for (const waiter of waiters.splice(0)) waiter();
  };
  let isOver = false;
  const read = async (): Promise<unknown> => {
    try {
      for await (const message of start({ signal: controller.signal })) {
        messages.push(message);
        wake();
      }
      return undefined;
    } catch (thrown) {
      return thrown;
    } finally {
      isOver = true;
      wake();
    }
  };
  const ended = read();
  return {
    messages,
    ended,
    reset: () => controller.abort(),
    async until(count) {
      while (messages.length < count) {
        if (isOver)
          throw new Error(`the stream ended after ${messages.length} messages`, { cause: await ended });
        await new Promise<void>((resolve) => waiters.push(resolve));
      }
      return messages;
    },
  };
}
