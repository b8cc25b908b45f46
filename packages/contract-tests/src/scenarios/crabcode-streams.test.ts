import { Code, ConnectError, createClient, type Transport } from "@connectrpc/connect";
import { CrabCodeService } from "@trivium/proto/crabcode";
import { expect } from "vitest";
import { type Payload, readEvents } from "../crabcode/calls.ts";
import { RecordedStream } from "../crabcode/recorded-stream.ts";
import type { Json } from "../crabcode/vector.ts";
import { readAll, statusOf } from "../take.ts";
import { type Scenario, useServer, verifies } from "../verifies.ts";

useServer();

const createSession = { "crabcode-create-session": "1" };
const nothing = new Map();

verifies("metadata:session", async ({ transport, uniqueName }) => {
  const client = createClient(CrabCodeService, transport);
  const sessionId = uniqueName;
  const named: (string | null)[] = [];
  const options = { onHeader: (header: Headers) => void named.push(header.get("crabcode-session-id")) };
  const { agentId } = await client.spawnAgent(
    { sessionId, prompt: "help" },
    { ...options, headers: createSession },
  );
  await client.waitAgent({ agentIds: [agentId] }, options);
  await client.getAgent({ agentId }, options);
  await client.cancelAgent({ agentId }, options);
  await client.listAgents({ sessionId }, options);
  await client.listModels({ sessionId }, options);
  await client.switchModel({ sessionId, name: "offline" }, options);
  await client.switchMode({ sessionId, mode: "agent" }, options);
  await readAll(client.sendMessage({ sessionId, text: "help" }, options));
  expect(named).toEqual(Array(9).fill(uniqueName));
  await client.healthCheck({ sessionId }, options);
  expect(named.at(-1)).toBeNull();
});

verifies("send-message:operation", async ({ transport, uniqueName }) => {
  const client = createClient(CrabCodeService, transport);
  let operation: string | null = null;
  const events = await readAll(
    client.sendMessage(
      { sessionId: uniqueName, text: "help" },
      { headers: createSession, onHeader: (header) => (operation = header.get("crabcode-operation-id")) },
    ),
  );
  expect(operation).toMatch(/^[0-9a-f]{32}$/);
  for (const { type, payloadJson } of events) {
    if (type.startsWith("server.")) continue;
    expect(JSON.parse(payloadJson)).toMatchObject({ operation_id: operation, operation_scope: "foreground" });
  }
});

verifies("send-message:idempotent", async ({ transport, uniqueName }) => {
  const client = createClient(CrabCodeService, transport);
  const send = async (text: string) => {
    let replay: string | null = null;
    const events = await readAll(
      client.sendMessage(
        { sessionId: uniqueName, text },
        {
          headers: { ...createSession, "idempotency-key": "k" },
          onHeader: (header) => (replay = header.get("trivium-idempotent-replay")),
        },
      ),
    );
    const numbered = events.filter(({ type }) => !type.startsWith("server."));
    return { replay, payloads: numbered.map(({ payloadJson }) => payloadJson) };
  };
  const first = await send("help");
  expect(first.replay).toBeNull();
  // The same bytes, and nothing beside them.
  expect(await send("help")).toEqual({ replay: "1", payloads: first.payloads });
  expect(ConnectError.from(await statusOf(send("other"))).code).toBe(Code.InvalidArgument);
});

verifies("send-message:detached", async ({ transport, uniqueName }) => {
  const client = createClient(CrabCodeService, transport);
  const bus = await subscribe(transport, uniqueName, createSession);
  const turn = send({ transport, uniqueName }, "run echo hi", { "crabcode-detach": "1" });
  await turn.find({ stream: "turn", type: "permission_request" }, nothing);
  turn.cancel();
  await turn.end();
  const question = turn.events.find(({ type }) => type === "permission_request");
  await client.respondPermission({
    sessionId: uniqueName,
    toolUseId: String(question?.["tool_use_id"]),
    allowed: true,
  });
  await bus.find({ stream: "bus", type: "turn_complete", match: { reason: "end_turn" } }, nothing);
  bus.cancel();
});

verifies("send-message:nobody-answers", async ({ transport, uniqueName }) => {
  const bus = await subscribe(transport, uniqueName, createSession);
  const turn = send({ transport, uniqueName }, "run echo hi", { "crabcode-interactive": "0" });
  expect(await turn.end()).toEqual({ code: "OK" });
  await bus.find({ stream: "bus", type: "turn_complete" }, nothing);
  const typesOnBus = bus.events.map(({ type }) => type);
  expect(typesOnBus).not.toContain("permission_request");
  expect(bus.events.find(({ type }) => type === "permission_response")).toMatchObject({
    allowed: false,
    resolution: "auto",
  });
  expect(turn.events.find(({ type }) => type === "tool_result")).toMatchObject({
    is_error: true,
    result: expect.stringMatching(/^Permission denied/),
  });
  bus.cancel();
});

verifies("create-session:once", async ({ transport, uniqueName }) => {
  const streams = await Promise.all([1, 2, 3].map(() => subscribe(transport, uniqueName, createSession)));
  const epochs = streams.map(
    ({ events: [connected] }) => (connected?.["properties"] as Json | undefined)?.["epoch"],
  );
  expect(epochs[0]).toEqual(expect.any(String));
  expect(new Set(epochs).size).toBe(1);
  for (const stream of streams) stream.cancel();
});

verifies("subscribe-events:same-order", async ({ transport, uniqueName }) => {
  const client = createClient(CrabCodeService, transport);
  const first = await subscribe(transport, uniqueName, createSession);
  const second = await subscribe(transport, uniqueName);
  const turn = send({ transport, uniqueName }, "run echo hi");
  await turn.find({ stream: "turn", type: "permission_request" }, nothing);
  const toolUseId = String(turn.events.find(({ type }) => type === "permission_request")?.["tool_use_id"]);
  await client.respondPermission({ sessionId: uniqueName, toolUseId, allowed: true });
  await turn.end();
  for (const bus of [first, second]) {
    await bus.find({ stream: "bus", type: "turn_complete" }, nothing);
    bus.cancel();
  }
  expect(numbered(second)).toEqual(numbered(first));
  expect(numbered(first).map(({ seq }) => seq)).toEqual(numbered(first).map((_, index) => index + 1));
  expect(numbered(turn)).toEqual(numbered(first).filter(({ type }) => type !== "permission_response"));
});

verifies("subscribe-events:cursor", async ({ transport, uniqueName }) => {
  const bus = await subscribe(transport, uniqueName, createSession);
  await send({ transport, uniqueName }, "help").end();
  await bus.find({ stream: "bus", type: "turn_complete" }, nothing);
  bus.cancel();
  const all = numbered(bus);
  const epoch = String(all[0]?.["epoch"]);
  expect(all.length).toBeGreaterThan(3);
  for (let seen = 0; seen < all.length; seen += 1) {
    const rest = await subscribe(transport, uniqueName, { "trivium-after-seq": `${epoch}:${seen}` });
    await rest.find({ stream: "rest", type: "turn_complete" }, nothing);
    rest.cancel();
    expect(numbered(rest)).toEqual(all.slice(seen));
  }
});

verifies("subscribe-events:gap", async ({ transport, uniqueName }) => {
  const bus = await subscribe(transport, uniqueName, createSession);
  await send({ transport, uniqueName }, "help").end();
  await bus.find({ stream: "bus", type: "turn_complete" }, nothing);
  bus.cancel();
  const again = await subscribe(transport, uniqueName, { "trivium-after-seq": "elsewhere:7" });
  await again.find({ stream: "again", type: "turn_complete" }, nothing);
  again.cancel();
  expect(again.events[1]).toEqual({
    type: "server.gap",
    properties: {
      session_id: uniqueName,
      epoch: numbered(bus)[0]?.["epoch"],
      from_seq: 0,
      to_seq: 0,
      reason: "epoch",
      previous_epoch: "elsewhere",
    },
  });
  expect(numbered(again)).toEqual(numbered(bus));
});

verifies("switch:notices", async ({ transport, uniqueName }) => {
  const sessionId = uniqueName;
  const client = createClient(CrabCodeService, transport);
  const bus = await subscribe(transport, sessionId, createSession);
  await client.switchMode({ sessionId, mode: "plan" });
  // It is in this mode already.
  await client.switchMode({ sessionId, mode: "plan" });
  await client.switchModel({ sessionId, name: "offline" });
  await bus.find({ stream: "bus", type: "model_change" }, nothing);
  bus.cancel();
  expect(numbered(bus)).toMatchObject([
    { type: "mode_change", mode: "plan", reason: "client" },
    { type: "model_change", model_profile: "offline" },
  ]);
});

verifies("respond-choice:options", async ({ transport, uniqueName }) => {
  const sessionId = uniqueName;
  const client = createClient(CrabCodeService, transport);
  const turn = send({ transport, uniqueName }, "ask Which?: a | b", createSession);
  await turn.find({ stream: "turn", type: "choice_request" }, nothing);
  const question = turn.events.find(({ type }) => type === "choice_request");
  const toolUseId = String(question?.["tool_use_id"]);
  const answer = (selected: string[]) => client.respondChoice({ sessionId, toolUseId, selected });
  for (const wrong of [["z"], [], ["a", "b"]]) {
    expect(ConnectError.from(await statusOf(answer(wrong))).code).toBe(Code.InvalidArgument);
  }
  await answer(["b"]);
  expect(await turn.end()).toEqual({ code: "OK" });
  expect(turn.events.find(({ type }) => type === "tool_result")).toMatchObject({
    result: "User selected: b",
  });
});

/** Opens a subscription and waits for its first event. */
async function subscribe(
  transport: Transport,
  sessionId: string,
  metadata: Readonly<Record<string, string>> = {},
): Promise<RecordedStream> {
  const call = { rpc: "SubscribeEvents", request: { session_id: sessionId }, metadata } as const;
  const stream = new RecordedStream((reader) => readEvents(transport, call, reader));
  await stream.find({ stream: "bus", type: "server.connected" }, nothing);
  return stream;
}

/** Sends a text and reads the events in the background. */
function send(
  { transport, uniqueName }: Pick<Scenario, "transport" | "uniqueName">,
  text: string,
  metadata: Readonly<Record<string, string>> = {},
): RecordedStream {
  const call = { rpc: "SendMessage", request: { session_id: uniqueName, text }, metadata } as const;
  return new RecordedStream((reader) => readEvents(transport, call, reader));
}

/** The events of the session, without those about the stream. */
function numbered({ events }: RecordedStream): readonly Payload[] {
  return events.filter(({ type }) => !type.startsWith("server."));
}
