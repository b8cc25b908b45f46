import { Code, createClient, type Transport } from "@connectrpc/connect";
import { CodeModeHost, type ExecutionOutcome, ToolKind } from "@trivium/proto/code-mode";
import { expect } from "vitest";
import { readAll, readFirst, statusOf } from "../take.ts";
import { useServer, verifies } from "../verifies.ts";

useServer();

/** A session with its lease; disposing it ends both. */
async function openSession(transport: Transport) {
  const host = createClient(CodeModeHost, transport);
  const lease = new AbortController();
  const events = host.openSession({}, { signal: lease.signal })[Symbol.asyncIterator]();
  const first = await events.next();
  if (first.done === true || first.value.event.case !== "opened") throw new Error("no session");
  const { sessionId } = first.value.event.value;
  let count = 0;
  return {
    host,
    sessionId,
    async execute(source: string, more: { yieldTimeMs?: bigint; enabledTools?: object[] } = {}) {
      count += 1;
      const request = { sessionId, executionId: `e${count}`, toolCallId: `t${count}`, source, ...more };
      return readAll(host.execute(request));
    },
    async [Symbol.asyncDispose]() {
      await host.closeSession({ sessionId }).catch(() => {
        // closed by the scenario
      });
      lease.abort();
    },
  };
}

function textOf(outcome: ExecutionOutcome | undefined): string {
  return (outcome?.contentItems ?? [])
    .map(({ item }) => (item.case === "text" ? item.value.text : item.case))
    .join("\n");
}

verifies("open-session:first-event", async ({ transport }) => {
  const { event } = await readFirst(createClient(CodeModeHost, transport).openSession({}));
  expect(event).toMatchObject({
    case: "opened",
    value: { sessionId: expect.stringMatching(/^[0-9a-f-]{36}$/) },
  });
});

verifies("execute:two-messages", async ({ transport }) => {
  await using session = await openSession(transport);
  const messages = await session.execute("text(6 * 7)");
  expect(messages.map(({ event }) => event.case)).toEqual(["started", "outcome"]);
  const [, outcome] = messages;
  if (outcome?.event.case !== "outcome") throw new Error("no outcome");
  expect(textOf(outcome.event.value)).toBe("42");
  if (outcome.event.value.outcome.case !== "completed") throw new Error("not completed");
  expect(outcome.event.value.outcome.value.errorText).toBeUndefined();
});

verifies("execute:stored-values", async ({ transport }) => {
  await using session = await openSession(transport);
  await session.execute('store("k", { a: [1, 2] })');
  const [, outcome] = await session.execute('text(JSON.stringify(load("k")))');
  expect(outcome?.event.case === "outcome" && textOf(outcome.event.value)).toBe('{"a":[1,2]}');
});

verifies("tool-calls:loop", async ({ transport }) => {
  await using session = await openSession(transport);
  const { host, sessionId } = session;
  const subscription = new AbortController();
  const sequences: number[] = [];
  const serving = (async () => {
    for await (const call of host.subscribeToToolCalls(
      { sessionId, heartbeatIntervalS: 1 },
      { signal: subscription.signal },
    )) {
      if (call.heartbeat !== undefined) continue;
      sequences.push(Number(call.sequence));
      const outputJson = new TextEncoder().encode(new TextDecoder().decode(call.inputJson));
      await host.completeToolCall({
        sessionId,
        invocationId: call.invocationId,
        outcome: { case: "succeeded", value: { outputJson } },
      });
    }
  })().catch((error: unknown) => {
    if (!subscription.signal.aborted) throw error;
  });
  const enabledTools = [
    { name: "double", toolName: { name: "double" }, description: "", kind: ToolKind.FUNCTION },
  ];
  // A subscription made a moment later than the first call would miss it, so the cell waits for one to answer.
  const [, outcome] = await session.execute(
    `for (;;) { try { await tools.double(0); break; } catch { await new Promise((done) => setTimeout(done, 5)); } }
     let sum = 0; for (let i = 1; i <= 100; i++) sum += (await tools.double({ i })).i; text(sum)`,
    { enabledTools, yieldTimeMs: 60_000n },
  );
  expect(outcome?.event.case === "outcome" && textOf(outcome.event.value)).toBe("5050");
  expect(sequences).toEqual(Array.from({ length: 101 }, (_, index) => index + 1));
  subscription.abort();
  await serving;
});

verifies("wait:yielded-cell", async ({ transport }) => {
  await using session = await openSession(transport);
  const [started, first] = await session.execute(
    'text("a"); yield_control(); await new Promise((d) => setTimeout(d, 20)); text("b")',
  );
  if (started?.event.case !== "started" || first?.event.case !== "outcome") throw new Error("no cell");
  expect(first.event.value.outcome.case).toBe("yielded");
  expect(textOf(first.event.value)).toBe("a");
  const { cellId } = started.event.value;
  const { state } = await session.host.wait({
    sessionId: session.sessionId,
    cellId,
    waitId: "w1",
    yieldTimeMs: 60_000n,
  });
  expect(state.case).toBe("liveCell");
  expect(textOf(state.value)).toBe("b");
  expect(state.value?.outcome.case).toBe("completed");
});

verifies("terminate:endless-loop", async ({ transport }) => {
  await using session = await openSession(transport);
  const [started, first] = await session.execute("while (true) {}", { yieldTimeMs: 20n });
  if (started?.event.case !== "started" || first?.event.case !== "outcome") throw new Error("no cell");
  expect(first.event.value.outcome.case).toBe("yielded");
  const { sessionId } = session;
  const { cellId } = started.event.value;
  const { state } = await session.host.terminate({ sessionId, cellId });
  expect(state).toMatchObject({ case: "liveCell", value: { outcome: { case: "terminated" } } });
  const after = await session.host.wait({ sessionId, cellId, waitId: "w1" });
  expect(after.state).toMatchObject({
    case: "missingCell",
    value: { outcome: { case: "completed", value: { errorText: `exec cell ${cellId} not found` } } },
  });
});

verifies("close-session:unknown", async ({ transport }) => {
  const session = await openSession(transport);
  await session.host.closeSession({ sessionId: session.sessionId });
  expect(await statusOf(session.host.closeSession({ sessionId: session.sessionId }))).toMatchObject({
    code: Code.NotFound,
  });
  await session[Symbol.asyncDispose]();
});
