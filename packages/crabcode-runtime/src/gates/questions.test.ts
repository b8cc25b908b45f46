import { describe, expect, it } from "vitest";
import { outline, RuntimeFixture } from "../testing/runtime-fixture.ts";

const bash = (id: string, command: string) => ({ id, name: "Bash", input: { command } });
const ask = (id: string, more: object = {}) => ({
  id,
  name: "AskUser",
  input: { question: "Which?", options: ["a", "b"], ...more },
});
const allow = { sessionId: "", isAllowed: true };

describe("a permission question", () => {
  it("is not asked again after an always, and only for that key", async () => {
    await using fixture = await RuntimeFixture.create({
      script: [
        { tool_calls: [bash("c1", "git status")] },
        { text: "one" },
        { tool_calls: [bash("c2", "git status -s")] },
        { text: "two" },
        { tool_calls: [bash("c3", "git log -1")] },
        { text: "three" },
      ],
    });
    const first = await fixture.send("a");
    expect((await first.find({ type: "permission_request" }))["permission_key"]).toBe("Bash(git status)");
    await fixture.runtime.respondPermission({ ...allow, toolUseId: "c1", alwaysAllow: true });
    await first.ended;
    expect(outline(await (await fixture.send("b")).all())).not.toContain("permission_request:c2");
    const third = await fixture.send("c");
    expect((await third.find({ type: "permission_request" }))["permission_key"]).toBe("Bash(git log)");
  });

  it("cannot be allowed any more when plan mode has begun meanwhile", async () => {
    await using fixture = await RuntimeFixture.create({
      script: [{ tool_calls: [bash("c1", "echo hi")] }, { text: "ok" }],
    });
    const reader = await fixture.send("x");
    await reader.find({ type: "permission_request" });
    await fixture.runtime.switchMode("", "plan");
    await fixture.runtime.respondPermission({ ...allow, toolUseId: "c1", alwaysAllow: true });
    const events = await reader.all();
    expect(events.find(({ type }) => type === "tool_result")).toMatchObject({
      is_error: true,
      result: "Permission denied: plan mode allows read-only tools only",
    });
    expect(outline(events)).not.toContain("stream_mode:tool-running");
  });

  it("is settled once, and the settlement is published before what follows", async () => {
    await using fixture = await RuntimeFixture.create({
      script: [{ tool_calls: [bash("c1", "echo hi")] }, { text: "ok" }],
    });
    const bus = await fixture.subscribe();
    const reader = await fixture.send("x");
    await reader.find({ type: "permission_request" });
    const answer = { ...allow, toolUseId: "c1" };
    const both = await Promise.allSettled([
      fixture.runtime.respondPermission(answer),
      fixture.runtime.respondPermission({ ...answer, isAllowed: false }),
    ]);
    expect(both[0].status).toBe("fulfilled");
    expect(both[1]).toMatchObject({
      reason: { reason: "REQUEST_ALREADY_ANSWERED", kind: "failedPrecondition" },
    });
    await reader.ended;
    await bus.find({ type: "turn_complete" });
    const order = outline(bus.events);
    const at = order.indexOf("permission_response:c1");
    expect(order[at - 1]).toBe("permission_request:c1");
    expect(order[at + 1]).toBe("stream_mode:tool-running");
    expect(await bus.find({ type: "permission_response" })).toMatchObject({
      allowed: true,
      always_allow: false,
      feedback: null,
      resolution: "answered",
    });
    expect(outline(reader.events)).not.toContain("permission_response:c1");
  });

  it("expires: the call is refused and the turn goes on", async () => {
    await using fixture = await RuntimeFixture.create({
      script: [{ tool_calls: [bash("c1", "echo hi")] }, { tool_calls: [ask("c2")] }, { text: "going on" }],
      settings: { permissions: { request_timeout_seconds: 2 } },
    });
    const bus = await fixture.subscribe();
    const reader = await fixture.send("x");
    await reader.find({ type: "permission_request" });
    await fixture.clock.advance(2000);
    expect((await reader.find({ type: "tool_result", tool_use_id: "c1" }))["result"]).toBe(
      "Permission denied: no answer within 2 s",
    );
    await reader.find({ type: "choice_request" });
    await fixture.clock.advance(2000);
    const events = await reader.all();
    expect(events.at(-1)).toMatchObject({ reason: "end_turn", turn_count: 3 });
    expect((await reader.find({ type: "tool_result", tool_use_id: "c2" }))["result"]).toBe(
      "Cancelled: no answer within 2 s",
    );
    await bus.find({ type: "turn_complete" });
    expect(await bus.find({ type: "permission_response" })).toMatchObject({
      allowed: false,
      feedback: "timeout",
      resolution: "expired",
    });
    expect(await bus.find({ type: "choice_response" })).toMatchObject({
      cancelled: true,
      selected: [],
      resolution: "expired",
    });
    await expect(fixture.runtime.respondPermission({ ...allow, toolUseId: "c1" })).rejects.toMatchObject({
      reason: "REQUEST_ALREADY_ANSWERED",
    });
  });

  it("takes an answer that comes before the call has asked", async () => {
    await using fixture = await RuntimeFixture.create({
      script: [{ tool_calls: [bash("c1", "echo a"), bash("c2", "echo b")] }, { text: "ok" }],
    });
    const reader = await fixture.send("x");
    await reader.find({ type: "permission_request", tool_use_id: "c1" });
    await fixture.runtime.respondPermission({ ...allow, toolUseId: "c2" });
    await expect(fixture.runtime.respondPermission({ ...allow, toolUseId: "c2" })).rejects.toMatchObject({
      reason: "REQUEST_ALREADY_ANSWERED",
    });
    await fixture.runtime.respondPermission({ ...allow, toolUseId: "c1" });
    await reader.ended;
    expect(fixture.toolbox.commands).toEqual(["echo a", "echo b"]);
  });

  it.each([
    [{ toolUseId: "zzz" }, "REQUEST_NOT_PENDING", "notFound"],
    [{ toolUseId: "" }, "FIELD_INVALID", "invalidInput"],
    [{ toolUseId: "c1", agentId: "nobody" }, "AGENT_NOT_FOUND", "notFound"],
    [{ toolUseId: "c1", sessionId: "nope" }, "SESSION_NOT_FOUND", "notFound"],
  ])("refuses the answer %j with %s", async (wrong, reason, kind) => {
    await using fixture = await RuntimeFixture.create({ script: [{ tool_calls: [bash("c1", "echo hi")] }] });
    const reader = await fixture.send("x");
    await reader.find({ type: "permission_request" });
    await expect(fixture.runtime.respondPermission({ ...allow, ...wrong })).rejects.toMatchObject({
      reason,
      kind,
    });
  });

  it("is refused without being asked when nobody is there", async () => {
    await using fixture = await RuntimeFixture.create({
      script: [{ tool_calls: [bash("c1", "echo hi")] }, { tool_calls: [ask("c2")] }, { text: "ok" }],
    });
    const bus = await fixture.subscribe();
    const events = await (await fixture.send("x", { isInteractive: false })).all();
    await bus.find({ type: "turn_complete" });
    expect(outline(bus.events)).not.toContain("permission_request:c1");
    expect(outline(bus.events)).not.toContain("choice_request:c2");
    expect(await bus.find({ type: "permission_response" })).toMatchObject({
      allowed: false,
      resolution: "auto",
    });
    expect(await bus.find({ type: "choice_response" })).toMatchObject({
      selected: ["a"],
      resolution: "auto",
    });
    expect(
      events.find(({ tool_use_id, type }) => type === "tool_result" && tool_use_id === "c2"),
    ).toMatchObject({
      is_error: false,
      result: expect.stringMatching(/^User selected: a/),
    });
  });

  it("asks for reading outside the workspace, with a key of its own", async () => {
    await using fixture = await RuntimeFixture.create({
      script: [
        { tool_calls: [{ id: "c1", name: "Read", input: { path: "/etc/hostname" } }] },
        { text: "ok" },
      ],
    });
    const reader = await fixture.send("x");
    expect(await reader.find({ type: "permission_request" })).toMatchObject({
      permission_key: "Read(outside:/etc)",
      reason: "outside workspace",
    });
  });

  it("names the searched folder itself, not the one above it", async () => {
    await using fixture = await RuntimeFixture.create({
      script: [
        { tool_calls: [{ id: "c1", name: "Grep", input: { pattern: "x", path: "/etc" } }] },
        { text: "ok" },
      ],
    });
    const reader = await fixture.send("x");
    expect((await reader.find({ type: "permission_request" }))["permission_key"]).toBe("Grep(outside:/etc)");
  });

  it("tells the model what was said with a refusal", async () => {
    await using fixture = await RuntimeFixture.create({
      script: [{ tool_calls: [bash("c1", "echo")] }, { text: "ok" }],
    });
    const reader = await fixture.send("x");
    await reader.find({ type: "permission_request" });
    const refusal = { sessionId: "", toolUseId: "c1", isAllowed: false };
    await expect(
      fixture.runtime.respondPermission({ ...refusal, feedback: "a".repeat(4001) }),
    ).rejects.toMatchObject({ reason: "FIELD_INVALID" });
    await fixture.runtime.respondPermission({ ...refusal, alwaysAllow: true, feedback: "use pnpm" });
    expect((await reader.find({ type: "tool_result" }))["result"]).toContain("They said: use pnpm");
    await reader.ended;
  });

  it("of a plan mode that began meanwhile is a denial", async () => {
    await using fixture = await RuntimeFixture.create({
      script: [{ tool_calls: [bash("c1", "echo hi")], hold: "go" }, { text: "ok" }],
    });
    const reader = await fixture.send("x");
    await reader.find({ type: "stream_mode" });
    await fixture.runtime.switchMode("", "plan");
    fixture.models.release("go");
    expect((await reader.find({ type: "tool_result" }))["result"]).toMatch(/^Permission denied: plan mode/);
    await reader.ended;
  });
});

describe("a choice question", () => {
  it("takes one of the options and nothing else", async () => {
    await using fixture = await RuntimeFixture.create({
      script: [{ tool_calls: [ask("c1")] }, { text: "fine" }],
    });
    const reader = await fixture.send("x");
    expect(await reader.find({ type: "choice_request" })).toMatchObject({
      tool_use_id: "c1",
      question: "Which?",
      options: ["a", "b"],
      multiple: false,
      expires_at: expect.any(String),
    });
    const answer = { sessionId: "", toolUseId: "c1" };
    for (const selected of [["z"], [], ["a", "b"]]) {
      await expect(fixture.runtime.respondChoice({ ...answer, selected })).rejects.toMatchObject({
        reason: "SELECTION_INVALID",
      });
    }
    await expect(fixture.runtime.respondPermission({ ...allow, toolUseId: "c1" })).rejects.toMatchObject({
      reason: "REQUEST_NOT_PENDING",
    });
    await fixture.runtime.respondChoice({ ...answer, selected: ["b"] });
    expect(await reader.find({ type: "tool_result" })).toMatchObject({
      result: "User selected: b",
      is_error: false,
    });
    await reader.ended;
  });

  it("may be cancelled, or answered with several", async () => {
    await using fixture = await RuntimeFixture.create({
      script: [
        { tool_calls: [ask("c1")] },
        { tool_calls: [ask("c2", { multiple: "true" })] },
        { text: "fine" },
      ],
    });
    const reader = await fixture.send("x");
    await reader.find({ type: "choice_request" });
    await fixture.runtime.respondChoice({ sessionId: "", toolUseId: "c1", selected: [], isCancelled: true });
    await reader.find({ type: "choice_request", tool_use_id: "c2" });
    await fixture.runtime.respondChoice({ sessionId: "", toolUseId: "c2", selected: ["a", "b"] });
    await reader.ended;
    const results = reader.events.filter(({ type }) => type === "tool_result").map(({ result }) => result);
    expect(results).toEqual(["Cancelled by the user", "User selected: a, b"]);
  });

  it("with one option or none is not asked", async () => {
    await using fixture = await RuntimeFixture.create({
      script: [
        { tool_calls: [ask("c1", { options: ["only"] }), ask("c2", { options: [] })] },
        { text: "fine" },
      ],
    });
    const events = await (await fixture.send("x")).all();
    const results = events.filter(({ type }) => type === "tool_result").map(({ is_error }) => is_error);
    expect(results).toEqual([false, true]);
    expect(events.some(({ type }) => type === "choice_request")).toBe(false);
  });
});
