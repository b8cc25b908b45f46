import { getEventListeners } from "node:events";
import { Code, ConnectError, createClient, createRouterTransport } from "@connectrpc/connect";
import { type Clock, TriviumError } from "@trivium/core";
import { ManualClock } from "@trivium/core/testing";
import {
  CrabcodeError,
  type CrabcodeRuntime,
  type SendMessageInput,
  type SubscribeInput,
} from "@trivium/crabcode-runtime";
import { type CoreEventProto, CrabCodeService } from "@trivium/proto/crabcode";
import { ErrorInfoSchema } from "@trivium/proto/error-details";
import { describe, expect, it } from "vitest";
import { CallSignal } from "./call-signal.ts";
import { crabcodeService } from "./crabcode-service.ts";
import { fakeRuntime, waitingStream } from "./testing/fake-runtime.ts";

describe("CrabCodeService.SendMessage", () => {
  it("hands on message, selector and metadata, and streams the events as they are", async () => {
    const inputs: SendMessageInput[] = [];
    const client = clientOf({
      async sendMessage(input) {
        inputs.push(input);
        const place = { sessionId: "s1", operationId: "op1", isReplay: true };
        input.onPlace?.(place);
        return { ...place, events: events("a", "b") };
      },
    });
    let header = new Headers();
    const received = [];
    const request = { text: "hi", maxTurns: 3, sessionId: "s1" };
    const headers = {
      "crabcode-create-session": "1",
      "crabcode-cwd": "/w/%C3%BC%25",
      "crabcode-interactive": "0",
      "crabcode-detach": "1",
      "idempotency-key": "k",
    };
    for await (const event of client.sendMessage(request, {
      headers,
      onHeader: (value) => (header = value),
    })) {
      received.push(event);
    }
    expect(inputs).toMatchObject([
      {
        session: { sessionId: "s1", create: true, cwd: "/w/ü%" },
        text: "hi",
        maxTurns: 3,
        idempotencyKey: "k",
        isInteractive: false,
        isDetached: true,
      },
    ]);
    expect(received).toMatchObject([
      { type: "a", payloadJson: '{"type":"a"}' },
      { type: "b", payloadJson: '{"type":"b"}' },
    ]);
    expect(header.get("crabcode-session-id")).toBe("s1");
    expect(header.get("crabcode-operation-id")).toBe("op1");
    expect(header.get("trivium-idempotent-replay")).toBe("1");
  });

  it("ignores the folder of a call that may not create a session", async () => {
    const inputs: SendMessageInput[] = [];
    const client = clientOf({
      async sendMessage(input) {
        inputs.push(input);
        return { sessionId: "s1", operationId: "op1", isReplay: false, events: events("a") };
      },
    });
    const headers = { "crabcode-create-session": "true", "crabcode-cwd": "%zz" };
    await drain(client.sendMessage({ text: "hi" }, { headers }));
    expect(inputs[0]?.session).toEqual({ sessionId: "" });
    expect(inputs[0]).toMatchObject({ isInteractive: true, isDetached: false });
    expect(inputs[0]).not.toHaveProperty("idempotencyKey");
  });

  it("refuses a folder that is not percent-encoded", async () => {
    const headers = { "crabcode-create-session": "1", "crabcode-cwd": "/%zz" };
    const error = await failure(drain(clientOf({}).sendMessage({ text: "hi" }, { headers })));
    expect(error.code).toBe(Code.InvalidArgument);
    expect(infoOf(error)).toMatchObject({ reason: "FIELD_INVALID", metadata: { field: "crabcode-cwd" } });
  });

  it("reports a refusal as a status with reason, field and the resolved session", async () => {
    const client = clientOf({
      sendMessage: () =>
        Promise.reject(
          new CrabcodeError("FIELD_INVALID", "max_turns is -1", { field: "max_turns", sessionId: "s1" }),
        ),
    });
    const error = await failure(drain(client.sendMessage({ text: "hi", maxTurns: -1 })));
    expect(error).toMatchObject({ code: Code.InvalidArgument, rawMessage: "max_turns is -1" });
    expect(infoOf(error)).toMatchObject({
      reason: "FIELD_INVALID",
      domain: "crabcode",
      metadata: { field: "max_turns" },
    });
    expect(error.metadata.get("crabcode-session-id")).toBe("s1");
  });

  it("reports a failure in the middle of the stream with its reason", async () => {
    const client = clientOf({
      async sendMessage() {
        const stalled = (async function* () {
          yield { type: "a", payloadJson: "{}" };
          throw new CrabcodeError("READER_STALLED", "the stream was not read for 120 s");
        })();
        return { sessionId: "s1", operationId: "op1", isReplay: false, events: stalled };
      },
    });
    const error = await failure(drain(client.sendMessage({ text: "hi" })));
    expect(error.code).toBe(Code.ResourceExhausted);
    expect(infoOf(error)?.reason).toBe("READER_STALLED");
  });

  it("tells nothing about a fault inside the server but logs it", async () => {
    const lines: unknown[] = [];
    const client = clientOf({ sendMessage: () => Promise.reject(new Error("/secret/path")) }, { lines });
    const error = await failure(drain(client.sendMessage({ text: "hi" })));
    expect(error).toMatchObject({ code: Code.Internal, rawMessage: "internal error" });
    expect(lines).toMatchObject([{ error: { message: "/secret/path" }, method: "SendMessage" }]);
  });

  it("sends complete headers and a heartbeat while the session is loaded", async () => {
    const clock = new ManualClock();
    const place = { sessionId: "s1", operationId: "op1", isReplay: true };
    const loaded = Promise.withResolvers<void>();
    const client = clientOf(
      {
        async sendMessage({ onPlace }) {
          onPlace?.(place);
          await loaded.promise;
          return { ...place, events: events("a") };
        },
      },
      { clock },
    );
    const header = Promise.withResolvers<Headers>();
    const received: CoreEventProto[] = [];
    const reading = (async () => {
      const stream = client.sendMessage({ text: "hi" }, { onHeader: header.resolve });
      for await (const event of stream) received.push(event);
    })();
    await expect.poll(() => clock.pendingTimers).toBe(1);
    await clock.advance(200);
    expect(Object.fromEntries(await header.promise)).toMatchObject({
      "crabcode-session-id": "s1",
      "crabcode-operation-id": "op1",
      "trivium-idempotent-replay": "1",
    });
    await expect.poll(() => received.length).toBe(1);
    expect(JSON.parse(received[0]?.payloadJson ?? "")).toEqual({
      type: "server.heartbeat",
      properties: { session_id: "s1", epoch: null, seq: null, model: null },
    });
    loaded.resolve();
    await reading;
    expect(received.map(({ type }) => type)).toEqual(["server.heartbeat", "a"]);
    expect(clock.pendingTimers).toBe(0);
  });

  it("names the session once in a refusal that comes after it was found", async () => {
    const client = clientOf({
      sendMessage({ onPlace }) {
        onPlace?.({ sessionId: "s1", operationId: "op1", isReplay: false });
        return Promise.reject(new CrabcodeError("QUEUE_FULL", "full", { sessionId: "s1" }));
      },
    });
    const error = await failure(drain(client.sendMessage({ text: "hi" })));
    expect(error.metadata.get("crabcode-session-id")).toBe("s1");
  });

  it("ends the call at the runtime when it is left while the session is loaded", async () => {
    const clock = new ManualClock();
    const signals: AbortSignal[] = [];
    const client = clientOf(
      {
        sendMessage({ signal }) {
          if (signal !== undefined) signals.push(signal);
          return new Promise(() => {});
        },
      },
      { clock },
    );
    const reading = (async () => {
      for await (const _ of client.sendMessage({ text: "hi" })) break;
    })();
    await expect.poll(() => clock.pendingTimers).toBe(1);
    await clock.advance(200);
    await reading;
    await expect.poll(() => signals[0]?.aborted).toBe(true);
  });

  it("passes a cancel on to the runtime", async () => {
    const ended = Promise.withResolvers<unknown>();
    const client = clientOf({
      async sendMessage(input) {
        const stream = waitingStream(input, ended.resolve);
        return { sessionId: "s1", operationId: "op1", isReplay: false, events: stream };
      },
    });
    const controller = new AbortController();
    const reading = (async () => {
      for await (const _ of client.sendMessage({ text: "hi" }, { signal: controller.signal }))
        controller.abort();
    })();
    await expect(failure(reading)).resolves.toMatchObject({ code: Code.Canceled });
    expect(TriviumError.isInstance(await ended.promise)).toBe(false);
  });

  it("says deadline exceeded when the client's time is up, and cancels the turn", async () => {
    const ended = Promise.withResolvers<unknown>();
    const client = clientOf({
      async sendMessage(input) {
        const stream = waitingStream(input, ended.resolve);
        return { sessionId: "s1", operationId: "op1", isReplay: false, events: stream };
      },
    });
    const error = await failure(drain(client.sendMessage({ text: "hi" }, { timeoutMs: 20 })));
    expect(error.code).toBe(Code.DeadlineExceeded);
    expect(TriviumError.isInstance(await ended.promise)).toBe(false);
  });
});

describe("CallSignal", () => {
  it.each([
    [Code.Aborted, "unavailable"],
    [Code.Unavailable, "unavailable"],
    [Code.ResourceExhausted, "resourceExhausted"],
    [Code.Canceled, undefined],
    [Code.DeadlineExceeded, undefined],
  ])("turns the end of a call with code %i into the reason of kind %s", (code, kind) => {
    const source = new AbortController();
    using call = new CallSignal(source.signal);
    source.abort(new ConnectError("over", code));
    expect(TriviumError.isInstance(call.signal.reason) ? call.signal.reason.kind : undefined).toBe(kind);
  });

  it("ends the call and leaves no listener behind when it is disposed", () => {
    const source = new AbortController();
    const call = new CallSignal(source.signal);
    call[Symbol.dispose]();
    expect(call.signal.reason).toMatchObject({ kind: "cancelled" });
    expect(getEventListeners(source.signal, "abort")).toEqual([]);
  });
});

describe("CrabCodeService.SubscribeEvents", () => {
  it("hands on session and cursor and names the resolved session", async () => {
    const inputs: SubscribeInput[] = [];
    let header = new Headers();
    const client = clientOf({
      async subscribe(input) {
        inputs.push(input);
        input.onSession?.("s1");
        return { sessionId: "s1", events: events("server.connected") };
      },
    });
    const headers = { "trivium-after-seq": "ep:17" };
    await drain(
      client.subscribeEvents({ sessionId: "s1" }, { headers, onHeader: (value) => (header = value) }),
    );
    expect(inputs).toMatchObject([{ session: { sessionId: "s1" }, afterSeq: "ep:17" }]);
    expect(header.get("crabcode-session-id")).toBe("s1");
  });

  it("names no session when all are watched", async () => {
    let header = new Headers();
    const client = clientOf({ subscribe: async () => ({ sessionId: undefined, events: events("a") }) });
    await drain(client.subscribeEvents({}, { onHeader: (value) => (header = value) }));
    expect(header.has("crabcode-session-id")).toBe(false);
  });
});

describe("answers to questions", () => {
  it("hands on a permission with feedback", async () => {
    const answers: unknown[] = [];
    let header = new Headers();
    const client = clientOf({
      async respondPermission(answer) {
        answers.push(answer);
        return { sessionId: "s1" };
      },
    });
    const request = { toolUseId: "c1", allowed: true, alwaysAllow: true, agentId: "a1", sessionId: "s1" };
    const headers = { "crabcode-feedback": "nicht so, bitte %C3%BCben" };
    const response = await client.respondPermission(request, {
      headers,
      onHeader: (value) => (header = value),
    });
    expect(answers).toEqual([
      {
        sessionId: "s1",
        toolUseId: "c1",
        agentId: "a1",
        isAllowed: true,
        alwaysAllow: true,
        feedback: "nicht so, bitte üben",
      },
    ]);
    expect(response.sessionId).toBe("");
    expect(header.get("crabcode-session-id")).toBe("s1");
  });

  it("refuses feedback of more than 4 000 characters", async () => {
    const headers = { "crabcode-feedback": "x".repeat(4_001) };
    const error = await failure(clientOf({}).respondPermission({ toolUseId: "c1" }, { headers }));
    expect(infoOf(error)).toMatchObject({ reason: "FIELD_INVALID" });
  });

  it("hands on a choice", async () => {
    const answers: unknown[] = [];
    const client = clientOf({
      async respondChoice(answer) {
        answers.push(answer);
        return { sessionId: "s1" };
      },
    });
    await client.respondChoice({ toolUseId: "c1", selected: ["a", "b"] });
    expect(answers).toEqual([{ sessionId: "", toolUseId: "c1", selected: ["a", "b"], isCancelled: false }]);
  });
});

describe("models and modes", () => {
  it("lists models and names the active one in a header", async () => {
    let header = new Headers();
    const models = [{ name: "größe", description: "ollama/m" }];
    const client = clientOf({ listModels: async () => ({ sessionId: "s1", models, currentModel: "größe" }) });
    const response = await client.listModels({}, { onHeader: (value) => (header = value) });
    expect(response.models).toMatchObject(models);
    expect(decodeURIComponent(header.get("crabcode-current-model") ?? "")).toBe("größe");
  });

  it("switches model and mode", async () => {
    const calls: unknown[] = [];
    const client = clientOf({
      async switchModel(...call) {
        calls.push(call);
        return { sessionId: "s1" };
      },
      async switchMode(...call) {
        calls.push(call);
        return { sessionId: "s1" };
      },
    });
    await client.switchModel({ name: "fast", sessionId: "s1" });
    await client.switchMode({ mode: "plan" });
    expect(calls).toEqual([
      ["s1", "fast"],
      ["", "plan"],
    ]);
  });
});

describe("CrabCodeService.HealthCheck", () => {
  it("is ok with the version", async () => {
    expect(await clientOf({}).healthCheck({})).toMatchObject({ status: "ok", version: "1.2.3" });
  });

  it("is unavailable while the runtime closes", async () => {
    const error = await failure(clientOf({ isClosing: true }).healthCheck({}));
    expect(error.code).toBe(Code.Unavailable);
    expect(infoOf(error)?.reason).toBe("SHUTTING_DOWN");
  });
});

function clientOf(
  methods: Partial<CrabcodeRuntime>,
  { lines = [], clock }: { readonly lines?: unknown[]; readonly clock?: Clock } = {},
) {
  const ignore = (): void => {};
  const logger = {
    debug: ignore,
    info: ignore,
    warn: ignore,
    error: (fields: unknown) => void lines.push(fields),
    child: () => logger,
  };
  const service = crabcodeService({
    runtime: fakeRuntime(methods),
    version: "1.2.3",
    logger,
    ...(clock !== undefined && { clock }),
  });
  return createClient(CrabCodeService, createRouterTransport(service));
}

async function* events(...types: string[]) {
  for (const type of types) yield { type, payloadJson: JSON.stringify({ type }) };
}

async function drain(stream: AsyncIterable<unknown>): Promise<void> {
  for await (const _ of stream);
}

async function failure(promise: Promise<unknown>): Promise<ConnectError> {
  const thrown = await promise.then(
    () => new Error("the call succeeded"),
    (error: unknown) => error,
  );
  return ConnectError.from(thrown);
}

function infoOf(error: ConnectError) {
  return error.findDetails(ErrorInfoSchema)[0];
}
