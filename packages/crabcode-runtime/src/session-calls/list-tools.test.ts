import { describe, expect, it } from "vitest";
import { refusal } from "../testing/refusal.ts";
import { RuntimeFixture } from "../testing/runtime-fixture.ts";

describe("the tools of a session", () => {
  it("are those its model is told of, in that order, those that write off in plan mode", async () => {
    await using fixture = await RuntimeFixture.create({ script: [{ text: "a" }, { text: "b" }] });
    const { sessions } = fixture.runtime;
    await sessions.create({ sessionId: "s" });
    const session = { sessionId: "s" };
    await (await fixture.send("x", { session })).all();
    const { tools } = await sessions.listTools("s", "");
    expect(tools.map(({ name }) => name)).toEqual(fixture.models.requests[0]?.tools.map(({ name }) => name));
    expect(tools.every(({ isEnabled, source }) => isEnabled && source === "builtin")).toBe(true);
    expect(tools.find(({ name }) => name === "Read")).toMatchObject({
      isReadOnly: true,
      isConcurrencySafe: true,
      inputSchema: { type: "object" },
    });
    await fixture.runtime.switchMode("s", "plan");
    await (await fixture.send("y", { session })).all();
    const planned = (await sessions.listTools("s", "")).tools.filter(({ isEnabled }) => isEnabled);
    expect(planned.map(({ name }) => name)).toEqual(
      fixture.models.requests[1]?.tools.map(({ name }) => name),
    );
    expect(planned.length).toBeLessThan(tools.length);
  });

  it("are known of one that is not loaded, and stay so", async () => {
    await using fixture = await RuntimeFixture.create();
    const { sessions } = fixture.runtime;
    await sessions.create({ sessionId: "s" });
    const loaded = await sessions.listTools("s", "");
    await sessions.close("s");
    expect(await sessions.listTools("s", "")).toEqual(loaded);
    expect(await sessions.get("s")).toMatchObject({ state: "stored" });
  });

  it("of a type of agents are its own, whatever the mode", async () => {
    const settings = { agent: { types: { reviewer: { allowed_tools: ["Read", "Grep"] } } } };
    await using fixture = await RuntimeFixture.create({ settings, script: [{ agent: 1, text: "a" }] });
    const { sessions } = fixture.runtime;
    await sessions.create({ sessionId: "s", mode: "plan" });
    const reviewer = await sessions.listTools("s", "reviewer");
    expect(reviewer.tools.map(({ name }) => name)).toEqual(["Read", "Grep"]);
    const session = { sessionId: "s" };
    const { agentId } = await fixture.runtime.spawnAgent({ session, prompt: "p", subagentType: "explore" });
    await fixture.runtime.waitAgent({ sessionId: "s", agentIds: [agentId] });
    const explore = await sessions.listTools("s", "explore");
    expect(explore.tools.map(({ name }) => name)).toEqual(
      fixture.models.requests[0]?.tools.map(({ name }) => name),
    );
    expect(explore.tools.every(({ isEnabled }) => isEnabled)).toBe(true);
  });

  it("are refused for an unknown type and an unknown session", async () => {
    await using fixture = await RuntimeFixture.create();
    const { sessions } = fixture.runtime;
    expect(await refusal(sessions.listTools("", "nope"))).toMatchObject({
      reason: "SUBAGENT_TYPE_UNKNOWN",
      kind: "invalidInput",
    });
    expect(await refusal(sessions.listTools("nope", ""))).toMatchObject({ reason: "SESSION_NOT_FOUND" });
  });
});
