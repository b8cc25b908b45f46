import { Code, createClient } from "@connectrpc/connect";
import { type CoreEventProto, CrabCodeService } from "@trivium/proto/crabcode";
import { expect } from "vitest";
import { readAll, readFirst, statusOf } from "../take.ts";
import { useServer, verifies } from "../verifies.ts";

useServer();

const createSession = { headers: { "crabcode-create-session": "1" } };

function payloads(events: readonly CoreEventProto[]): Record<string, unknown>[] {
  return events.map(({ payloadJson }) => JSON.parse(payloadJson) as Record<string, unknown>);
}

verifies("health-check:ok", async ({ transport }) => {
  const { status, version } = await createClient(CrabCodeService, transport).healthCheck({});
  expect(status).toBe("ok");
  expect(version).toMatch(/^\d+\.\d+\.\d+/);
});

verifies("list-models:offline", async ({ transport }) => {
  const { models } = await createClient(CrabCodeService, transport).listModels({});
  expect(models.at(-1)).toMatchObject({ name: "offline", description: "offline/offline-rules" });
});

verifies("send-message:last-event", async ({ transport, uniqueName }) => {
  const client = createClient(CrabCodeService, transport);
  const events = await readAll(client.sendMessage({ text: "help", sessionId: uniqueName }, createSession));
  const types = events.map(({ type }) => type);
  expect(types.filter((type) => type === "turn_complete")).toHaveLength(1);
  expect(types.at(-1)).toBe("turn_complete");
  const text = payloads(events)
    .filter(({ type }) => type === "stream_text")
    .map(({ text: piece }) => piece)
    .join("");
  expect(text).toMatch(/^\[offline mode/);
});

verifies("send-message:numbered", async ({ transport, uniqueName }) => {
  const client = createClient(CrabCodeService, transport);
  const events = await readAll(client.sendMessage({ text: "help", sessionId: uniqueName }, createSession));
  const numbered = payloads(events).filter(({ type }) => !String(type).startsWith("server."));
  const seqs = numbered.map(({ seq }) => Number(seq));
  expect(seqs).toEqual(seqs.toSorted((a, b) => a - b));
  expect(new Set(seqs).size).toBe(seqs.length);
  expect(new Set(numbered.map(({ epoch }) => epoch)).size).toBe(1);
  expect(numbered[0]).toMatchObject({
    session_id: uniqueName,
    epoch: expect.any(String),
    ts: expect.any(String),
  });
});

verifies("send-message:empty", async ({ transport }) => {
  const client = createClient(CrabCodeService, transport);
  expect(await statusOf(readAll(client.sendMessage({ text: " \n" })))).toMatchObject({
    code: Code.InvalidArgument,
  });
});

verifies("subscribe-events:first-event", async ({ transport }) => {
  const client = createClient(CrabCodeService, transport);
  const { type, payloadJson } = await readFirst(client.subscribeEvents({}));
  expect(type).toBe("server.connected");
  expect(JSON.parse(payloadJson)).toMatchObject({ type: "server.connected" });
});

verifies("respond-permission:unknown", async ({ transport }) => {
  const client = createClient(CrabCodeService, transport);
  expect(
    await statusOf(client.respondPermission({ toolUseId: "nobody-asked", allowed: true })),
  ).toMatchObject({
    code: Code.NotFound,
  });
});

verifies("session:unknown", async ({ transport }) => {
  const client = createClient(CrabCodeService, transport);
  expect(
    await statusOf(readAll(client.sendMessage({ text: "help", sessionId: "no-such-session" }))),
  ).toMatchObject({
    code: Code.NotFound,
  });
});
