import { randomUUID } from "node:crypto";
import { describe, expect, it } from "vitest";
import {
  type LiveService,
  liveService,
  type Payload,
  StreamReader,
  statusOf,
} from "./testing/live-service.ts";

const bashCall = { tool_calls: [{ id: "c1", name: "Bash", input: { command: "ls" } }] };

describe("a conversation over the wire", () => {
  it("item 2: streams a turn with its headers; every subscriber sees the same events", async () => {
    await using live = await liveService([{ text: ["Hel", "lo"], hold: "go" }]);
    const one = subscribe(live);
    const two = subscribe(live);
    await Promise.all([one, two].map((reader) => reader.find({ type: "server.connected" })));
    const turn = send(live, "hi");
    await turn.find({ type: "stream_mode", mode: "requesting" });
    expect(turn.header.get("crabcode-session-id")).toMatch(/^[0-9a-f-]{36}$/);
    expect(turn.header.get("crabcode-operation-id")).toMatch(/^[0-9a-f]{32}$/);
    await live.release("go");
    expect(await turn.ended).toBeUndefined();
    expect(outline(turn)).toEqual([
      "stream_mode requesting",
      "stream_mode responding",
      "stream_text",
      "stream_text",
      "turn_complete end_turn",
    ]);
    await Promise.all([one, two].map((reader) => reader.find({ type: "turn_complete" })));
    const numbered = turn.events.filter(({ type }) => !type.startsWith("server."));
    expect(one.events.slice(1)).toEqual(numbered);
    expect(two.events.slice(1)).toEqual(numbered);
    expect(one.header.get("crabcode-session-id")).toBe(turn.header.get("crabcode-session-id"));
  });

  it("asks for a permission and goes on with the answer", async () => {
    await using live = await liveService([bashCall, { text: "ok" }]);
    const turn = send(live, "x");
    await turn.find({ type: "permission_request", tool_use_id: "c1" });
    await live.client.respondPermission({ toolUseId: "c1", allowed: true });
    expect(await turn.ended).toBeUndefined();
    expect(await turn.find({ type: "tool_result" })).toMatchObject({ result: "ran ls", is_error: false });
    expect(turn.events.at(-1)).toMatchObject({ type: "turn_complete", turn_count: 2 });
  });

  it("sends a pending question again to whoever comes late", async () => {
    await using live = await liveService([bashCall, { text: "ok" }]);
    const turn = send(live, "x");
    const question = await turn.find({ type: "permission_request" });
    const late = subscribe(live);
    expect(await late.find({ type: "permission_request" })).toEqual({ ...question, replayed: true });
    await live.client.respondPermission({ toolUseId: "c1", allowed: false });
    expect(await turn.ended).toBeUndefined();
    expect(await turn.find({ type: "tool_result" })).toMatchObject({ is_error: true });
  });

  it("takes a choice", async () => {
    const input = { question: "which", options: ["a", "b"] };
    await using live = await liveService([
      { tool_calls: [{ id: "c1", name: "AskUser", input }] },
      { text: "ok" },
    ]);
    const turn = send(live, "x");
    await turn.find({ type: "choice_request" });
    const wrong = live.client.respondChoice({ toolUseId: "c1", selected: ["z"] });
    expect(await statusOf(wrong)).toEqual({ code: "InvalidArgument", reason: "SELECTION_INVALID" });
    await live.client.respondChoice({ toolUseId: "c1", selected: ["b"] });
    expect(await turn.ended).toBeUndefined();
    expect(await turn.find({ type: "tool_result" })).toMatchObject({ result: "User selected: b" });
  });

  it("refuses at once when nobody answers", async () => {
    await using live = await liveService([bashCall, { text: "ok" }]);
    const turn = send(live, "x", { "crabcode-interactive": "0" });
    expect(await turn.ended).toBeUndefined();
    expect(turn.events.map(({ type }) => type)).not.toContain("permission_request");
    expect(await turn.find({ type: "tool_result" })).toMatchObject({ is_error: true });
  });

  it("interrupts the turn when its call is cancelled, what a tool does included", async () => {
    await using live = await liveService([bashCall, { text: "fresh" }], "run forever");
    const bus = subscribe(live);
    await bus.find({ type: "server.connected" });
    const turn = send(live, "x");
    await turn.find({ type: "permission_request" });
    await live.client.respondPermission({ toolUseId: "c1", allowed: true });
    await turn.find({ type: "stream_mode", mode: "tool-running" });
    turn.cancel();
    expect(await bus.find({ type: "turn_complete" })).toMatchObject({ reason: "interrupted" });
    expect(await bus.find({ type: "tool_result" })).toMatchObject({ is_error: true });
    const next = send(live, "y");
    expect(await next.ended).toBeUndefined();
    expect(await next.find({ type: "stream_text" })).toMatchObject({ text: "fresh" });
  });

  it("lets a detached turn go on without its call", async () => {
    await using live = await liveService([{ text: "done", hold: "go" }]);
    const bus = subscribe(live);
    const turn = send(live, "x", { "crabcode-detach": "1" });
    await turn.find({ type: "stream_mode" });
    turn.cancel();
    await turn.ended;
    await live.release("go");
    expect(await bus.find({ type: "turn_complete" })).toMatchObject({ reason: "end_turn" });
  });

  it("gives a waiting message its headers at once, and refuses the ninth", async () => {
    await using live = await liveService([{ text: "1", hold: "go" }, ...Array(8).fill({ text: "n" })]);
    const first = send(live, "first");
    await first.find({ type: "stream_mode" });
    const waiting = Array.from({ length: 8 }, () => send(live, "next"));
    for (const reader of waiting) await reader.find({ type: "server.heartbeat" });
    expect(waiting.every(({ header }) => header.has("crabcode-operation-id"))).toBe(true);
    const ninth = send(live, "too many").ended.then((error) => Promise.reject(error));
    expect(await statusOf(ninth)).toEqual({ code: "ResourceExhausted", reason: "QUEUE_FULL" });
    await live.release("go");
    for (const reader of waiting) expect(await reader.ended).toBeUndefined();
    expect(waiting.every(({ events }) => events.at(-1)?.type === "turn_complete")).toBe(true);
  });

  it("continues a subscription behind a cursor", async () => {
    await using live = await liveService([{ text: "hello" }]);
    const turn = send(live, "hi");
    await turn.ended;
    const [first, second] = turn.events;
    const cursor = `${String(first?.["epoch"])}:${String(first?.["seq"])}`;
    const later = subscribe(live, { "trivium-after-seq": cursor });
    await later.find({ type: "turn_complete" });
    expect(later.events[0]).toMatchObject({ type: "server.connected", properties: { busy: false } });
    expect(later.events[1]).toEqual(second);
    expect(later.events.at(-1)).toEqual(turn.events.at(-1));
  });

  it("joins the first call when a message is sent again with its key", async () => {
    await using live = await liveService([{ text: "once" }]);
    const first = send(live, "hi", { "idempotency-key": "k1" });
    await first.ended;
    const again = send(live, "hi", { "idempotency-key": "k1" });
    expect(await again.ended).toBeUndefined();
    expect(again.header.get("trivium-idempotent-replay")).toBe("1");
    expect(again.events).toEqual(first.events);
    const other = send(live, "other", { "idempotency-key": "k1" }).ended.then((error) =>
      Promise.reject(error),
    );
    expect(await statusOf(other)).toEqual({ code: "InvalidArgument", reason: "IDEMPOTENCY_MISMATCH" });
  });

  it("item 3: watches all sessions, those made later included", async () => {
    await using live = await liveService([{ text: "a" }]);
    const all = new StreamReader((options) => live.client.subscribeEvents({}, options));
    await all.find({ type: "server.connected" });
    expect(all.header.has("crabcode-session-id")).toBe(false);
    const request = { text: "x", sessionId: "mine" };
    const headers = { "crabcode-create-session": "1", "crabcode-cwd": `${live.cwd}/other` };
    const turn = new StreamReader((options) => live.client.sendMessage(request, options), headers);
    expect(await turn.ended).toBeUndefined();
    expect(turn.header.get("crabcode-session-id")).toBe("mine");
    expect(await all.find({ type: "turn_complete" })).toMatchObject({ session_id: "mine" });
  });

  it("ends subscriptions with UNAVAILABLE when the runtime closes", async () => {
    await using live = await liveService();
    const bus = subscribe(live);
    await bus.find({ type: "server.connected" });
    await live.runtime.close();
    const ended = bus.ended.then((error) => Promise.reject(error));
    expect(await statusOf(ended)).toEqual({ code: "Unavailable", reason: "SHUTTING_DOWN" });
    const message = send(live, "x").ended.then((error) => Promise.reject(error));
    expect(await statusOf(message)).toEqual({ code: "Unavailable", reason: "SHUTTING_DOWN" });
  });

  it("is not healthy while it drains, and the running turn ends as it should", async () => {
    await using live = await liveService([{ text: ["one ", "two"], hold: "go", hold_after_chunks: 1 }]);
    const turn = send(live, "x");
    await turn.find({ type: "stream_text" });
    const closing = live.runtime.close({ drainMs: 60_000 });
    expect(await statusOf(live.client.healthCheck({}))).toEqual({
      code: "Unavailable",
      reason: "SHUTTING_DOWN",
    });
    await live.release("go");
    expect(await turn.ended).toBeUndefined();
    expect(turn.events.at(-1)).toMatchObject({ type: "turn_complete", reason: "end_turn" });
    await closing;
  });

  it("answers without any model, and lists what there is", async () => {
    await using live = await liveService();
    let header = new Headers();
    const { models } = await live.client.listModels({}, { onHeader: (value) => (header = value) });
    expect(models.map(({ name, description }) => `${name} ${description}`)).toEqual([
      "keyless anthropic/m",
      "offline offline/offline-rules",
    ]);
    expect(header.get("crabcode-current-model")).toBe("offline");
    const turn = send(live, "what can you do?");
    expect(await turn.ended).toBeUndefined();
    expect(await turn.find({ type: "stream_text" })).toMatchObject({
      text: expect.stringContaining("[offline mode"),
    });
  });

  it("switches mode and model and tells subscribers", async () => {
    await using live = await liveService([{ text: "x" }]);
    const bus = subscribe(live);
    await bus.find({ type: "server.connected" });
    await live.client.switchMode({ mode: "plan" });
    expect(await bus.find({ type: "mode_change" })).toMatchObject({ mode: "plan", reason: "client" });
    await live.client.switchModel({ name: "offline" });
    expect(await bus.find({ type: "model_change" })).toMatchObject({ model_profile: "offline" });
  });
});

type Call = (live: LiveService) => Promise<unknown>;
const unknown = { sessionId: "nope" };
const create = (cwd?: string): { headers: Record<string, string> } => ({
  headers: { "crabcode-create-session": "1", ...(cwd !== undefined && { "crabcode-cwd": cwd }) },
});

describe("what is refused", () => {
  it.each<[string, string, string, Call]>([
    [
      "SendMessage",
      "NotFound",
      "SESSION_NOT_FOUND",
      ({ client }) => drain(client.sendMessage({ text: "x", ...unknown })),
    ],
    [
      "SubscribeEvents",
      "NotFound",
      "SESSION_NOT_FOUND",
      ({ client }) => drain(client.subscribeEvents(unknown)),
    ],
    ["ListModels", "NotFound", "SESSION_NOT_FOUND", ({ client }) => client.listModels(unknown)],
    [
      "SwitchModel",
      "NotFound",
      "SESSION_NOT_FOUND",
      ({ client }) => client.switchModel({ name: "x", ...unknown }),
    ],
    [
      "SwitchMode",
      "NotFound",
      "SESSION_NOT_FOUND",
      ({ client }) => client.switchMode({ mode: "plan", ...unknown }),
    ],
    [
      "RespondPermission",
      "NotFound",
      "SESSION_NOT_FOUND",
      ({ client }) => client.respondPermission({ toolUseId: "c", ...unknown }),
    ],
    [
      "RespondChoice",
      "NotFound",
      "SESSION_NOT_FOUND",
      ({ client }) => client.respondChoice({ toolUseId: "c", ...unknown }),
    ],
    [
      "blank text",
      "InvalidArgument",
      "EMPTY_TEXT",
      ({ client }) => drain(client.sendMessage({ text: " \n" })),
    ],
    [
      "negative max_turns",
      "InvalidArgument",
      "FIELD_INVALID",
      ({ client }) => drain(client.sendMessage({ text: "x", maxTurns: -1 })),
    ],
    [
      "more than 1 MiB of text",
      "ResourceExhausted",
      "TOO_LARGE",
      ({ client }) => drain(client.sendMessage({ text: "é".repeat(524_289) })),
    ],
    ["an empty mode", "InvalidArgument", "MODE_INVALID", ({ client }) => client.switchMode({ mode: "" })],
    [
      "an unknown mode",
      "InvalidArgument",
      "MODE_INVALID",
      ({ client }) => client.switchMode({ mode: "yolo" }),
    ],
    [
      "an unknown model",
      "InvalidArgument",
      "MODEL_NOT_FOUND",
      ({ client }) => client.switchModel({ name: "nope" }),
    ],
    [
      "a model without its key",
      "FailedPrecondition",
      "PROFILE_UNUSABLE",
      ({ client }) => client.switchModel({ name: "keyless" }),
    ],
    [
      "an answer nobody asked for",
      "NotFound",
      "REQUEST_NOT_PENDING",
      ({ client }) => client.respondPermission({ toolUseId: "zzz" }),
    ],
    [
      "a blank tool_use_id",
      "InvalidArgument",
      "FIELD_INVALID",
      ({ client }) => client.respondPermission({ allowed: true }),
    ],
    [
      "a malformed session id",
      "InvalidArgument",
      "SESSION_ID_INVALID",
      ({ client }) => drain(client.sendMessage({ text: "x", sessionId: "../etc" }, create())),
    ],
    [
      "a folder outside the roots",
      "PermissionDenied",
      "CWD_FORBIDDEN",
      ({ client }) => drain(client.sendMessage({ text: "x", sessionId: "s9" }, create("/"))),
    ],
    [
      "a relative folder",
      "InvalidArgument",
      "FIELD_INVALID",
      ({ client }) => drain(client.sendMessage({ text: "x", sessionId: "s9" }, create("work"))),
    ],
    [
      "a malformed cursor",
      "InvalidArgument",
      "CURSOR_INVALID",
      ({ client }) => drain(client.subscribeEvents({}, { headers: { "trivium-after-seq": "-1" } })),
    ],
    [
      "a cursor of all sessions without a name",
      "InvalidArgument",
      "CURSOR_INVALID",
      ({ client }) => drain(client.subscribeEvents({}, { headers: { "trivium-after-seq": "5" } })),
    ],
    [
      "a long idempotency key",
      "InvalidArgument",
      "IDEMPOTENCY_KEY_INVALID",
      ({ client }) =>
        drain(client.sendMessage({ text: "x" }, { headers: { "idempotency-key": "k".repeat(129) } })),
    ],
  ])("%s: %s %s", async (...row) => {
    const [, code, reason, call] = row;
    await using live = await liveService();
    expect(await statusOf(call(live))).toEqual({ code, reason });
  });

  it("a session that exists with another folder", async () => {
    await using live = await liveService();
    const request = { text: "help", sessionId: randomUUID() };
    await drain(live.client.sendMessage(request, create(live.cwd)));
    const again = drain(live.client.sendMessage(request, create(`${live.cwd}/other`)));
    expect(await statusOf(again)).toEqual({ code: "FailedPrecondition", reason: "CWD_MISMATCH" });
  });

  it("an answer to a question that is settled, and one of the wrong kind", async () => {
    await using live = await liveService([bashCall, { text: "ok", hold: "go" }]);
    const turn = send(live, "x");
    await turn.find({ type: "permission_request" });
    expect(await statusOf(live.client.respondChoice({ toolUseId: "c1", selected: ["a"] }))).toEqual({
      code: "NotFound",
      reason: "REQUEST_NOT_PENDING",
    });
    await live.client.respondPermission({ toolUseId: "c1", allowed: true });
    expect(await statusOf(live.client.respondPermission({ toolUseId: "c1", allowed: true }))).toEqual({
      code: "FailedPrecondition",
      reason: "REQUEST_ALREADY_ANSWERED",
    });
    await live.release("go");
    await turn.ended;
  });
});

function send({ client }: LiveService, text: string, headers?: Record<string, string>): StreamReader {
  return new StreamReader((options) => client.sendMessage({ text }, options), headers);
}

/** Watches the default session; the first call of a test that names it. */
function subscribe({ client }: LiveService, headers?: Record<string, string>): StreamReader {
  return new StreamReader(async function* (options) {
    let header = new Headers();
    await client.listModels({}, { onHeader: (value) => (header = value) });
    yield* client.subscribeEvents({ sessionId: header.get("crabcode-session-id") ?? "" }, options);
  }, headers);
}

function outline({ events }: StreamReader): string[] {
  return events.map((event: Payload) => [event.type, event["mode"] ?? event["reason"]].join(" ").trim());
}

async function drain(stream: AsyncIterable<unknown>): Promise<void> {
  for await (const _ of stream);
}
