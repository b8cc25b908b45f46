import { create, fromJson, type JsonValue, toJson } from "@bufbuild/protobuf";
import { CodeModeHost, type WaitResponse } from "@trivium/proto/code-mode";
import {
  type CallEnd,
  callEnd,
  failed,
  type HostClient,
  type ObservedExecution,
  ObservedSession,
  type ObservedStream,
  succeeded,
  toEnd,
} from "./observed-session.ts";
import { pause } from "./pause.ts";
import {
  jsonBytes,
  recordAnswer,
  recordCall,
  recordExecution,
  textBytes,
  toExecuteRequest,
  toOpenRequest,
} from "./records.ts";
import type { Expectation, Operation, Vector } from "./vector.ts";

const UNKNOWN_UUID = "00000000-0000-4000-8000-000000000000";

/** Performs the explicit steps of a vector. */
export async function replayOperations(client: HostClient, vector: Vector): Promise<Expectation> {
  const replay = new OperationReplay(client);
  try {
    const results: unknown[] = [];
    for (const operation of vector.ops ?? []) results.push(await replay.perform(operation));
    return { ops: results };
  } finally {
    replay.dropAll();
  }
}

type Step = (operation: Operation) => unknown;

class OperationReplay {
  readonly #client: HostClient;
  readonly #sessions = new Map<string, ObservedSession>();
  readonly #executions = new Map<string, ObservedExecution>();
  readonly #streams = new Map<string, ObservedStream>();
  readonly #background = new Map<string, Promise<WaitResponse | CallEnd>>();
  readonly #steps: Readonly<Record<string, Step>>;

  constructor(client: HostClient) {
    this.#client = client;
    this.#steps = {
      open: (operation) => this.#open(operation),
      subscribe: (operation) => this.#subscribe(operation),
      execute: (operation) => this.#execute(operation),
      outcome: (operation) => this.#outcome(operation),
      wait: (operation) => this.#wait(operation),
      await: async ({ of = "" }) => recordAnswer(await found(this.#background.get(of), of)),
      cancel_wait: ({ wait_id: waitId = "" }) =>
        ending(this.#client.cancelWait({ sessionId: this.#first().sessionId, waitId })),
      terminate: (operation) => this.#terminate(operation),
      yield_observation: (operation) => this.#yieldObservation(operation),
      complete: (operation) => this.#complete(operation),
      ack: ({ notification_id, note = 0 }) =>
        ending(
          this.#client.acknowledgeNotification({
            sessionId: this.#first().sessionId,
            notificationId: notification_id ?? this.#resolve(`$note${note}`),
          }),
        ),
      close: ({ session_id }) =>
        ending(this.#client.closeSession({ sessionId: session_id ?? this.#first().sessionId })),
      drop: (operation) => this.#drop(operation),
      await_calls: (operation) => this.#awaitCalls(operation),
      await_event: (operation) => this.#awaitEvent(operation),
      events: (operation) => this.#events(operation),
      end: (operation) => this.#end(operation),
      rpc: (operation) => this.#rpc(operation),
      sleep: async ({ ms = 0 }) => {
        await pause(ms);
        return null;
      },
    };
  }

  async perform(given: Operation): Promise<unknown> {
    const operation = this.#resolve(given);
    const step = this.#steps[operation.op];
    if (step === undefined) throw new Error(`unknown operation ${operation.op}`);
    return (await step(operation)) ?? null;
  }

  dropAll(): void {
    for (const { lease } of this.#sessions.values()) lease.drop();
  }

  async #open({ as = "s", init, limits, record }: Operation): Promise<unknown> {
    const session = await ObservedSession.open(this.#client, toOpenRequest(init, limits));
    if (!(session instanceof ObservedSession)) return { status: session.status, message: session.message };
    this.#sessions.set(as, session);
    const { outputTruncation, catalogSupport } = session.opened;
    return {
      opened: true,
      ...(record === true && { output_truncation: outputTruncation, catalog_support: catalogSupport }),
    };
  }

  async #subscribe(operation: Operation): Promise<unknown> {
    const { as = "sub", tool_names: toolNames = [], heartbeat_interval_s: heartbeatIntervalS } = operation;
    const init = {
      toolNames: [...toolNames],
      ...(heartbeatIntervalS !== undefined && { heartbeatIntervalS }),
    };
    const stream = this.#sessionOf(operation).subscribe(init, (call) => {
      call.subscription = as;
    });
    this.#streams.set(as, stream);
    // 0 opens many in a row; elsewhere the answer counts, however long a busy machine takes for it.
    if (operation.settle_ms !== 0) await withinTime(stream.answered, 1000);
    await pause(operation.settle_ms ?? 10);
    return stream.end === undefined ? { subscribed: true } : { ...stream.end };
  }

  async #execute(operation: Operation): Promise<unknown> {
    const { as = "" } = operation;
    const session = this.#sessionOf(operation);
    const execution = session.execute(toExecuteRequest(operation, as));
    this.#executions.set(as, execution);
    this.#streams.set(as, execution);
    await session.until(() => execution.cellId !== undefined || execution.end !== undefined, 5000);
    const { cellId, end } = execution;
    return cellId === undefined
      ? { status: end?.status, message: end?.message }
      : { started: true, cell: cellId };
  }

  async #outcome({ of = "", timeout_ms: timeoutMs = 5000 }: Operation): Promise<unknown> {
    const execution = found(this.#executions.get(of), of);
    await withinTime(execution.done, timeoutMs);
    if (execution.end === undefined) return { pending: true, messages: execution.messages };
    return recordExecution(execution);
  }

  async #wait(operation: Operation): Promise<unknown> {
    const { cell: cellId = "", wait_id: waitId = "", yield_time_ms: yieldTimeMs = 5000 } = operation;
    const sessionId = operation.session_id ?? this.#first().sessionId;
    const answer = this.#client
      .wait({ sessionId, cellId, waitId, yieldTimeMs: BigInt(yieldTimeMs) })
      .catch(toEnd);
    if (operation.background !== true) return recordAnswer(await answer);
    this.#background.set(waitId, answer);
    await pause(operation.settle_ms ?? 30);
    return null;
  }

  async #terminate({ cell: cellId = "", background, as = "" }: Operation): Promise<unknown> {
    const answer = this.#client.terminate({ sessionId: this.#first().sessionId, cellId }).catch(toEnd);
    if (background !== true) return recordAnswer(await answer);
    this.#background.set(as, answer);
    return null;
  }

  #yieldObservation({ wait_id: waitId, execution_id: executionId }: Operation): Promise<CallEnd> {
    const { sessionId } = this.#first();
    if (waitId !== undefined) {
      return ending(
        this.#client.yieldObservation({ sessionId, observation: { case: "waitId", value: waitId } }),
      );
    }
    if (executionId === undefined) return ending(this.#client.yieldObservation({ sessionId }));
    const observation = { case: "executionId", value: executionId } as const;
    return ending(this.#client.yieldObservation({ sessionId, observation }));
  }

  #complete(operation: Operation): Promise<CallEnd> {
    const { invocation_id, call = 0, fail, raw, session_id } = operation;
    const sessionId = session_id ?? this.#first().sessionId;
    const invocationId = invocation_id ?? this.#resolve(`$call${call}`);
    const request = { sessionId, invocationId };
    if (fail !== undefined)
      return ending(this.#client.completeToolCall({ ...request, outcome: failed(fail) }));
    if (raw === undefined && !("json" in operation)) return ending(this.#client.completeToolCall(request));
    const outputJson = raw === undefined ? jsonBytes(operation.json) : textBytes(raw);
    return ending(this.#client.completeToolCall({ ...request, outcome: succeeded(outputJson) }));
  }

  async #drop({ of = "", settle_ms: settleMs = 30 }: Operation): Promise<null> {
    this.#stream(of).drop();
    await pause(settleMs);
    return null;
  }

  async #awaitCalls(operation: Operation): Promise<unknown> {
    const { n = 1, routes } = operation;
    const session = this.#sessionOf(operation);
    await session.until(() => session.calls.length >= n, operation.timeout_ms ?? 3000);
    return {
      calls: session.calls.map((call) => ({
        ...recordCall(call),
        execution_id: call.executionId,
        ...(routes === true && { subscription: call.subscription }),
      })),
    };
  }

  async #awaitEvent(operation: Operation): Promise<unknown> {
    const session = this.#sessionOf(operation);
    const count = (): number => session.events.filter((event) => event.case === operation.event).length;
    const seen = await session.until(() => count() >= (operation.n ?? 1), operation.timeout_ms ?? 3000);
    return { seen };
  }

  async #events(operation: Operation): Promise<unknown> {
    await pause(operation.settle_ms ?? 30);
    const session = this.#sessionOf(operation);
    return {
      events: session.events
        .filter((event) => event.case !== "opened")
        .map((event) => record(session, event)),
    };
  }

  async #end({ of = "", timeout_ms: timeoutMs = 3000 }: Operation): Promise<unknown> {
    const stream = this.#stream(of);
    await withinTime(stream.done, timeoutMs);
    return stream.end === undefined ? { open: true } : { ...stream.end };
  }

  async #rpc({
    rpc = "",
    message,
    record: isRecorded,
    timeout_ms: timeoutMs = 1500,
  }: Operation): Promise<unknown> {
    const method = CodeModeHost.methods.find(({ name }) => name === rpc);
    if (method === undefined) throw new Error(`unknown RPC ${rpc}`);
    const request =
      message === undefined ? create(method.input) : fromJson(method.input, message as unknown as JsonValue);
    let response: JsonValue | undefined;
    const end = await callEnd(async (options) => {
      // One function per RPC, of which the generic type is lost.
      const call = this.#client[method.localName as "wait"] as unknown as (
        input: typeof request,
        callOptions: typeof options,
      ) => Promise<never> & AsyncIterable<never>;
      if (method.methodKind === "unary") {
        response = toJson(method.output, await call(request, options));
        return;
      }
      for await (const one of call(request, options)) response ??= toJson(method.output, one);
    }, timeoutMs);
    if (end.status === null) return { status: null, rst: 8, messages: 0 };
    return { ...end, ...(isRecorded === true && response !== undefined && { response }) };
  }

  #first(): ObservedSession {
    const [first] = this.#sessions.values();
    return found(first, "session");
  }

  #sessionOf({ session }: Operation): ObservedSession {
    return session === undefined ? this.#first() : found(this.#sessions.get(session), session);
  }

  #stream(name: string): ObservedStream {
    return name === "lease" ? this.#first().lease : found(this.#streams.get(name), name);
  }

  /** Puts identifiers where the vector has placeholders. */
  #resolve<Value>(value: Value): Value {
    if (typeof value === "string") {
      return value.replaceAll(/\$([a-z]+)(\d*)/g, (text, kind: string, digits: string) =>
        this.#placeholder(text, kind, digits),
      ) as Value;
    }
    if (Array.isArray(value)) return value.map((one: unknown) => this.#resolve(one)) as Value;
    if (typeof value !== "object" || value === null) return value;
    return Object.fromEntries(Object.entries(value).map(([key, one]) => [key, this.#resolve(one)])) as Value;
  }

  #placeholder(text: string, kind: string, digits: string): string {
    const name = kind + digits;
    const session = this.#sessions.get(name);
    if (session !== undefined) return session.sessionId;
    if (this.#executions.has(name)) return this.#executions.get(name)?.cellId ?? "?";
    switch (kind) {
      case "call":
        return this.#first().calls[Number(digits)]?.invocationId ?? "?";
      case "note": {
        const notes = this.#first().events.filter((event) => event.case === "notification");
        return notes[Number(digits)]?.value.notificationId ?? "?";
      }
      case "uuid":
        return UNKNOWN_UUID;
      case "long":
        return "x".repeat(Number(digits));
      default:
        return text;
    }
  }
}

function record(session: ObservedSession, event: ObservedSession["events"][number]): unknown {
  switch (event.case) {
    case "notification": {
      const { executionId, callId, text } = event.value;
      return { notification: { execution_id: executionId, call_id: callId, text } };
    }
    case "cellClosed": {
      const { executionId, cellId, finalToolCallSequence } = event.value;
      const counted = { final_tool_call_sequence: Number(finalToolCallSequence) };
      return { cell_closed: { execution_id: executionId, cell: cellId, ...counted } };
    }
    case "toolCallCancelled": {
      const { invocationId } = event.value;
      const call = session.calls.find((one) => one.invocationId === invocationId);
      return { tool_call_cancelled: call?.runtimeToolCallId ?? "?" };
    }
    case "opened":
    case "heartbeat":
    case "tool_heartbeat":
    case "notificationCancelled":
    case undefined:
      return { [event.case ?? "nothing"]: true };
  }
}

async function ending(call: Promise<unknown>): Promise<CallEnd> {
  return call.then(() => ({ status: 0, message: "" }), toEnd);
}

async function withinTime(promise: Promise<unknown>, timeoutMs: number): Promise<void> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<void>((resolve) => {
    timer = setTimeout(resolve, timeoutMs);
  });
  await Promise.race([promise, late]);
  clearTimeout(timer);
}

function found<Value>(value: Value | undefined, name: string): Value {
  if (value === undefined) throw new Error(`the vector names ${name}, which does not exist`);
  return value;
}
