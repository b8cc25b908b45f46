import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { CrabcodeError } from "../crabcode-error.ts";
import { refusal } from "../testing/refusal.ts";
import { type Payload, RuntimeFixture } from "../testing/runtime-fixture.ts";
import type { ScriptEntry } from "../testing/scripted-models.ts";
import type { PendingQuestion } from "./session-types.ts";

/** More than one heartbeat interval. */
const HEARTBEAT_MS = 11_000;

const bash = (agent: number | null, id: string): ScriptEntry => ({
  agent,
  tool_calls: [{ id, name: "Bash", input: { command: "ls -l" } }],
});
const ask = (agent: number | null, id: string): ScriptEntry => ({
  agent,
  tool_calls: [{ id, name: "AskUser", input: { question: "Which?", options: ["a", "b"] } }],
});

async function asking(fixture: RuntimeFixture, sessionId: string): Promise<void> {
  const turn = await fixture.send("x", { session: { sessionId, create: true }, isDetached: true });
  await Promise.race([turn.find({ type: "permission_request" }), turn.find({ type: "choice_request" })]);
  await fixture.clock.advance(1);
}

describe("the questions that wait", () => {
  it("are those of all sessions, the longest waiting first, or of one and of one kind", async () => {
    const script = [bash(null, "c1"), ask(null, "c2"), bash(null, "c3")];
    await using fixture = await RuntimeFixture.create({ script });
    const { questions } = fixture.runtime;
    for (const sessionId of ["b", "a", "c"]) await asking(fixture, sessionId);
    const all = await questions.list({});
    expect(all).toMatchObject({ sessionId: undefined, nextPageToken: "" });
    expect(all.questions.map(({ sessionId }) => sessionId)).toEqual(["b", "a", "c"]);
    expect(all.questions[0]).toMatchObject({
      agentPath: [],
      event: {
        type: "permission_request",
        tool_name: "Bash",
        tool_input: { command: "ls -l" },
        tool_use_id: "c1",
        agent_id: null,
        session_id: "b",
        expires_at: "2026-01-01T00:30:00.000Z",
      },
    });
    const idsOf = async (input: Parameters<typeof questions.list>[0]): Promise<string[]> =>
      (await questions.list(input)).questions.map(({ event }) => event.tool_use_id);
    expect(await idsOf({ kind: "choice" })).toEqual(["c2"]);
    expect(await idsOf({ kind: "permission" })).toEqual(["c1", "c3"]);
    expect(await idsOf({ sessionId: "a" })).toEqual(["c2"]);
    expect(await idsOf({ sessionId: "" })).toEqual([]);
    expect(await fixture.runtime.sessions.get("a")).toMatchObject({ pendingQuestionCount: 1 });
    await fixture.runtime.respondPermission({ sessionId: "b", toolUseId: "c1", isAllowed: true });
    expect(await idsOf({})).toEqual(["c2", "c3"]);
    expect(await refusal(questions.list({ sessionId: "nope" }))).toMatchObject({
      reason: "SESSION_NOT_FOUND",
      kind: "notFound",
    });
  });

  it("come in pages that lose none when some are answered and others asked between them", async () => {
    const script = ["a", "b", "c", "d", "e"].map((id) => bash(null, id));
    await using fixture = await RuntimeFixture.create({ script });
    const { questions } = fixture.runtime;
    for (const sessionId of ["s1", "s2", "s3", "s4"]) await asking(fixture, sessionId);
    const first = await questions.list({ pageSize: 2 });
    expect(first.questions.map(({ sessionId }) => sessionId)).toEqual(["s1", "s2"]);
    await fixture.runtime.closeSession("s2");
    await fixture.runtime.closeSession("s3");
    await asking(fixture, "s0");
    const { nextPageToken: pageToken } = first;
    const second = await questions.list({ pageSize: 5, pageToken });
    expect(second.questions.map(({ sessionId }) => sessionId)).toEqual(["s4", "s0"]);
    for (const other of [{ kind: "choice" as const }, { sessionId: "s1" }]) {
      expect(await refusal(questions.list({ ...other, pageToken }))).toMatchObject({
        reason: "PAGE_TOKEN_INVALID",
      });
    }
    expect(await refusal(questions.list({ pageSize: -1 }))).toMatchObject({ field: "page_size" });
  });

  it("of an agent name the agents above it", async () => {
    const spawn: ScriptEntry = {
      agent: 1,
      tool_calls: [{ id: "t", name: "AgentSpawn", input: { prompt: "inner" } }],
    };
    const settings = { permissions: { allow: [{ tool: "AgentSpawn" }] } };
    const script = [spawn, bash(2, "c"), { agent: 1, text: "done" }];
    await using fixture = await RuntimeFixture.create({ script, settings });
    await fixture.runtime.sessions.create({ sessionId: "s" });
    const watcher = await fixture.watch({ sessionId: "s" });
    const { agentId } = await fixture.runtime.spawnAgent({ session: { sessionId: "s" }, prompt: "outer" });
    const request = await watcher.find({ type: "permission_request", tool_use_id: "c" });
    const { questions } = await fixture.runtime.questions.list({});
    expect(questions).toMatchObject([{ agentPath: [agentId, request["agent_id"]], event: request }]);
  });

  it("are what a new subscription is sent again, whatever happened before", async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.constantFrom("asks", "chooses", "says"), { maxLength: 12 }),
        fc.array(
          fc.constantFrom("send", "other", "spawn", "allow", "deny", "choose", "interrupt", "wait", "close"),
          { minLength: 3, maxLength: 16 },
        ),
        async (steps, actions) => {
          const script = steps.map(toEntry);
          await using fixture = await RuntimeFixture.create({ script, isInMemory: true });
          for (const action of actions) {
            await act(fixture, action);
            await expectSame(fixture);
          }
        },
      ),
      { numRuns: 40 },
    );
  }, 120_000);
});

/** Does one thing, to the question that waits longest when it is an answer. */
async function act({ runtime, clock }: RuntimeFixture, action: string): Promise<void> {
  const [first] = (await runtime.questions.list({})).questions;
  const address = {
    sessionId: first?.sessionId ?? "s",
    toolUseId: first?.event.tool_use_id ?? "none",
    ...(typeof first?.event.agent_id === "string" && { agentId: first.event.agent_id }),
  };
  const session = { sessionId: action === "other" ? "s2" : "s", create: true };
  const calls: Record<string, () => Promise<unknown>> = {
    send: () => runtime.sendMessage({ session, text: "x", isDetached: true }),
    other: () => runtime.sendMessage({ session, text: "x", isDetached: true }),
    spawn: () => runtime.spawnAgent({ session, prompt: "p" }),
    allow: () => runtime.respondPermission({ ...address, isAllowed: true }),
    deny: () => runtime.respondPermission({ ...address, isAllowed: false }),
    choose: () => runtime.respondChoice({ ...address, selected: ["a"] }),
    interrupt: () => runtime.sessions.interrupt("s"),
    wait: () => clock.advance(1_000_000),
    close: () => runtime.sessions.close("s", { interrupt: true }),
  };
  const call = calls[action]?.().catch((error: unknown) => {
    if (!CrabcodeError.isInstance(error)) throw error;
  });
  let isOver = false;
  const done = call?.finally(() => {
    isOver = true;
  });
  while (!isOver) await clock.advance(50);
  await done;
}

/** The list and what each session sends again are the same; asked until nothing changed in between. */
async function expectSame(fixture: RuntimeFixture): Promise<void> {
  for (;;) {
    const before = await listed(fixture);
    const replayed: Payload[] = [];
    for (const { sessionId } of (await fixture.runtime.sessions.list({ states: ["idle", "busy"] }))
      .sessions) {
      replayed.push(...(await sentAgain(fixture, sessionId)));
    }
    const after = await listed(fixture);
    if (JSON.stringify(before) !== JSON.stringify(after)) continue;
    expect(before).toEqual(replayed.map(firstSent).sort(byPlace));
    return;
  }
}

/** The event as it came the first time. */
function firstSent(event: Payload): Payload {
  const { replayed: _again, ...first } = event;
  return first;
}

async function listed({ runtime }: RuntimeFixture): Promise<Payload[]> {
  const { questions } = await runtime.questions.list({});
  return questions.map(({ event }: PendingQuestion): Payload => ({ ...event })).sort(byPlace);
}

/** What comes before the first heartbeat of a new subscription. */
async function sentAgain(fixture: RuntimeFixture, sessionId: string): Promise<Payload[]> {
  const reader = await fixture.watch({ sessionId });
  await fixture.clock.advance(HEARTBEAT_MS);
  await reader.find({ type: "server.heartbeat" });
  reader.leave();
  return reader.events.filter((event) => event["replayed"] === true);
}

function byPlace(a: Payload, b: Payload): number {
  const [left, right] = [a, b].map(
    (event) => `${String(event["session_id"])} ${String(event.seq).padStart(9)}`,
  );
  return (left ?? "") < (right ?? "") ? -1 : 1;
}

function toEntry(kind: string, index: number): ScriptEntry {
  const id = `c${index}`;
  if (kind === "says") return { text: "ok" };
  const name = kind === "asks" ? "Bash" : "AskUser";
  const input = kind === "asks" ? { command: `ls ${index}` } : { question: "Which?", options: ["a", "b"] };
  return { tool_calls: [{ id, name, input }] };
}
