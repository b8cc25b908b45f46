import { ErrorCode } from "@trivium/proto/grok-tools";
import { describe, expect, it } from "vitest";
import { fakeSubagents } from "../../../testing/fake-subagents.ts";
import { testRuntime } from "../../../testing/test-runtime.ts";
import { toolContext } from "../../../testing/tool-context.ts";
import type { ToolContext } from "../../../tool.ts";
import { schedulerDelete } from "../scheduler-delete/scheduler-delete.ts";
import { schedulerList } from "../scheduler-list/scheduler-list.ts";
import { schedulerCreate } from "./scheduler-create.ts";

const tools = [schedulerCreate, schedulerDelete, schedulerList];
const ids = tools.map(({ id }) => id);
const HOUR_MS = 60 * 60_000;

describe("GrokBuild:scheduler_create", () => {
  it.each([
    [{}, ErrorCode.MISSING_REQUIRED_FIELD, { field: "every" }],
    [{ interval: "5m" }, ErrorCode.MISSING_REQUIRED_FIELD, { field: "prompt" }],
    [{ interval: "5m", prompt: " " }, ErrorCode.INVALID_INPUT, { field: "prompt" }],
    [{ interval: "5m", prompt: "x".repeat(100_001) }, ErrorCode.INVALID_INPUT, { field: "prompt" }],
    [
      { interval: "5x", prompt: "p" },
      ErrorCode.INVALID_INPUT,
      { code: "scheduler_invalid_request", field: "every" },
    ],
    [{ interval: "5m", prompt: "p", recurring: "no" }, ErrorCode.INVALID_INPUT, { field: "recurring" }],
    [{ task_id: "nope", interval: "5m" }, ErrorCode.INVALID_INPUT, { code: "scheduler_invalid_request" }],
  ])("refuses %j", async (input, code, details) => {
    const context = toolContext({ parameterName: (name) => (name === "interval" ? "every" : name) });
    await expect(schedulerCreate.run(input, context)).rejects.toMatchObject({
      code,
      details: expect.objectContaining(details),
    });
  });

  it("suggests a background command for something that happens once", async () => {
    const run = schedulerCreate.run({ interval: "5m", prompt: "p", recurring: false }, toolContext());
    await expect(run).rejects.toMatchObject({ suggestion: expect.stringContaining("background command") });
  });

  it("is nothing for subagents, whose runs would be as deep as those of the host", async () => {
    const subagents = fakeSubagents();
    const child = await subagents.start({ prompt: "p", description: "d", owner: "background" });
    const context = (promptId: string) => toolContext({ subagents, promptId });
    await expect(create(context(child.id))).rejects.toMatchObject({
      code: ErrorCode.INVALID_INPUT,
      details: { code: "scheduler_depth_exceeded" },
    });
    expect(await create(context("turn"))).toMatch(/^[0-9a-f]{12}$/);
  });

  it("needs something to change", async () => {
    const context = toolContext();
    const id = await create(context);
    await expect(schedulerCreate.run({ task_id: id, durable: true }, context)).rejects.toMatchObject({
      code: ErrorCode.INVALID_INPUT,
    });
  });

  it("takes fifty tasks", async () => {
    const context = toolContext();
    for (let count = 0; count < 50; count += 1) await create(context);
    await expect(create(context)).rejects.toMatchObject({
      code: ErrorCode.INVALID_INPUT,
      details: { code: "scheduler_invalid_request" },
    });
  });

  it("says when a task ends before its first run", async () => {
    const { promptText } = await schedulerCreate.run({ interval: "8d", prompt: "p" }, toolContext());
    expect(promptText).toContain("before its next run");
  });

  it("does not advertise that tasks could happen once", () => {
    expect(schedulerCreate.specialiseInput({ properties: { recurring: {}, prompt: {} } }, undefined)).toEqual(
      {
        properties: { prompt: {} },
      },
    );
  });
});

describe("GrokBuild:scheduler_list", () => {
  it("shows the beginning of long prompts, cut between characters", async () => {
    const context = toolContext();
    expect((await schedulerList.run({ x: 1 }, context)).promptText).toBe("There are no scheduled tasks.");
    await create(context, "é".repeat(41));
    const { output } = await schedulerList.run({}, context);
    expect(output).toMatchObject({
      tasks: [{ prompt: `${"é".repeat(40)}...`, intervalHuman: "every 5 minutes" }],
    });
  });
});

describe("a session with scheduled tasks", () => {
  it("needs the tool that makes them", async () => {
    await using test = await testRuntime(tools);
    const open = test.runtime.openSession({ id: "s", tools: ["GrokBuild:scheduler_list"] });
    await expect(open).rejects.toMatchObject({ violations: [{ category: "requirements" }] });
  });

  it("stays open although it is idle, until the last of them is removed", async () => {
    await using test = await testRuntime(tools);
    const session = test.runtime.sessions.session("s");
    await session.finalize({ tools: ids.map((id) => ({ id })) });
    const { result } = await session.execute("scheduler_create", { interval: "5m", prompt: "p" });
    const output = result.ok ? result.output : {};
    await test.clock.advance(5 * HOUR_MS);
    expect(session.status).toBe("finalized");
    await session.execute("scheduler_delete", { id: output["id"] ?? "" });
    await test.clock.advance(2 * HOUR_MS);
    expect(session.status).toBe("closed");
  });

  it("goes on with the durable ones when it is opened again", async () => {
    await using test = await testRuntime(tools);
    {
      await using session = await test.runtime.openSession({ id: "s", tools: ids });
      await session.execute("scheduler_create", { interval: "5m", prompt: "kept", durable: true });
      await session.execute("scheduler_create", { interval: "5m", prompt: "dropped" });
    }
    await using session = await test.runtime.openSession({ id: "s", tools: ids });
    const { result } = await session.execute("scheduler_list", {});
    expect(result).toMatchObject({ output: { tasks: [{ prompt: "kept" }] } });
  });

  it("forgets those with the server whose call was held to a check, and says so", async () => {
    await using test = await testRuntime(tools);
    const authorise = () => Promise.resolve(undefined);
    {
      await using session = await test.runtime.openSession({ id: "s", tools: ids });
      const input = { interval: "5m", prompt: "p", durable: true };
      const { result } = await session.execute("scheduler_create", input, { authorise });
      expect(result).toMatchObject({ promptText: expect.stringContaining("It ends with the server") });
      await session.execute(
        "scheduler_create",
        { ...input, prompt: "host", foreground: true },
        { authorise },
      );
    }
    await using session = await test.runtime.openSession({ id: "s", tools: ids });
    const { result } = await session.execute("scheduler_list", {});
    expect(result).toMatchObject({ output: { tasks: [{ prompt: "host" }] } });
  });
});

async function create(context: ToolContext<unknown>, prompt = "p"): Promise<string> {
  const { output } = await schedulerCreate.run({ interval: "5m", prompt }, context);
  const { id } = output;
  return typeof id === "string" ? id : "";
}
