import { Code, ConnectError, createClient } from "@connectrpc/connect";
import { CrabCodeService } from "@trivium/proto/crabcode";
import { expect } from "vitest";
import { callUnary, isStreaming, readEvents } from "../crabcode/calls.ts";
import { RecordedStream } from "../crabcode/recorded-stream.ts";
import type { RpcName } from "../crabcode/vector.ts";
import { statusOf } from "../take.ts";
import { useServer, verifies } from "../verifies.ts";

/** A model that fails every request, and one that only says that it is none. */
const models = { broken: { provider: "script", model: "m", scriptPath: "/nowhere/script.json" } };
useServer({
  parameters: ["--set", `models=${JSON.stringify(models)}`, "--set", "defaultModel=offline"],
  env: { TRIVIUM_CRABCODE_TESTING: "1" },
});

const createSession = { "crabcode-create-session": "1" };

verifies("status:turn-error", async ({ transport, uniqueName }) => {
  const client = createClient(CrabCodeService, transport);
  const session = { sessionId: uniqueName };
  await client.spawnAgent({ ...session, prompt: "help" }, { headers: createSession });
  await client.switchModel({ ...session, name: "broken" });
  const turn = new RecordedStream((reader) =>
    readEvents(transport, { rpc: "SendMessage", request: { ...session, text: "x" } }, reader),
  );
  expect(await turn.end()).toEqual({ code: "OK" });
  expect(turn.events.at(-2)).toMatchObject({ type: "error", error_type: "config", recoverable: false });
  expect(turn.events.at(-1)).toMatchObject({ type: "turn_complete", reason: "error" });
});

verifies("status:cancelled", async ({ transport, uniqueName }) => {
  const session = { session_id: uniqueName };
  const bus = new RecordedStream((reader) =>
    readEvents(transport, { rpc: "SubscribeEvents", request: session, metadata: createSession }, reader),
  );
  const captures = new Map();
  await bus.find({ stream: "bus", type: "server.connected" }, captures);
  const turn = new RecordedStream((reader) =>
    readEvents(transport, { rpc: "SendMessage", request: { ...session, text: "run echo hi" } }, reader),
  );
  await turn.find({ stream: "turn", type: "permission_request" }, captures);
  turn.cancel();
  expect(await turn.end()).toMatchObject({ code: "CANCELLED" });
  await bus.find({ stream: "bus", type: "turn_complete", match: { reason: "interrupted" } }, captures);
  bus.cancel();
});

verifies("status:client-deadline", async ({ transport, uniqueName }) => {
  const client = createClient(CrabCodeService, transport);
  // It waits for a permission that nobody gives.
  const request = { sessionId: uniqueName, prompt: "run echo hi" };
  const { agentId } = await client.spawnAgent(request, { headers: createSession });
  const thrown = await statusOf(client.waitAgent({ agentIds: [agentId] }, { timeoutMs: 200 }));
  expect(ConnectError.from(thrown).code).toBe(Code.DeadlineExceeded);
  expect((await client.getAgent({ agentId })).status).toMatch(/^(queued|running)$/);
  await client.cancelAgent({ agentId });
});

const never: ReadonlySet<string> = new Set([
  "UNIMPLEMENTED",
  "ABORTED",
  "DATA_LOSS",
  "UNKNOWN",
  "ALREADY_EXISTS",
  "OUT_OF_RANGE",
  "INTERNAL",
]);

verifies("status:every-method", async ({ transport }) => {
  const names = CrabCodeService.methods.map(({ name }) => name as RpcName);
  expect(names).toHaveLength(13);
  for (const rpc of names) {
    // A subscription has no end of its own.
    const request = rpc === "SubscribeEvents" ? { session_id: "nowhere" } : {};
    const stream = isStreaming(rpc)
      ? new RecordedStream((reader) => readEvents(transport, { rpc, request }, reader))
      : undefined;
    const status =
      stream === undefined ? (await callUnary(transport, { rpc, request })).status : await stream.end();
    expect(never.has(status.code), `${rpc}: ${status.code}`).toBe(false);
  }
});
