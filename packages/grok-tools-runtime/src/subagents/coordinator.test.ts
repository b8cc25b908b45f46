import { ManualClock } from "@trivium/core/testing";
import { describe, expect, it } from "vitest";
import type { ToolNotification } from "../notifications/tool-notification.ts";
import { scriptedRunner } from "../testing/scripted-runner.ts";
import { toolContext } from "../testing/tool-context.ts";
import { SubagentCoordinator } from "./coordinator.ts";
import { SubagentTypes } from "./definitions/subagent-types.ts";
import type { SubagentLimits } from "./subagent-limits.ts";
import type { SubagentRequest } from "./subagents.ts";

function coordinator(limits: Partial<SubagentLimits> = {}) {
  const clock = new ManualClock();
  const told: ToolNotification[] = [];
  const scope = toolContext({ clock, notify: (notification) => void told.push(notification) });
  const runner = scriptedRunner();
  const children = new SubagentCoordinator({
    scope,
    tools: [],
    session: { listTools: () => [], execute: () => Promise.reject(new Error("no calls")) },
    host: { isWindows: false, shellUsesSemicolon: false, hasUnixUtilities: true },
    runner: { kind: "local", runner },
    limits: { maxConcurrent: 32, atLimit: "queue", maxDepth: 1, validationMs: 2_000, ...limits },
    types: new SubagentTypes({
      readsDefinitions: false,
      directory: scope.sessionDirectory,
      homeDirectory: undefined,
      workspaceRoots: undefined,
      timeoutMs: 2_000,
      clock,
      logger: scope.logger,
    }),
  });
  return {
    clock,
    told,
    runner,
    children,
    start: (request: Partial<SubagentRequest> = {}) =>
      children.start({ prompt: "p", description: "d", type: "explore", owner: "background", ...request }),
    /** Children that run are known to the runner a little later. */
    async running(count: number): Promise<void> {
      while (runner.children.length < count) await new Promise((resolve) => setImmediate(resolve));
    },
  };
}

describe("children of children", () => {
  it("are told of to nobody and end with the one that started them", async () => {
    const test = coordinator({ maxDepth: 2 });
    const parent = await test.start({ id: "a" });
    const quick = await test.start({ id: "b", promptId: "a" });
    const nested = await test.start({ id: "c", promptId: "a" });
    await test.running(3);
    test.runner.children.find(({ run }) => run.id === "b")?.end();
    await quick.finished;
    expect(test.told).toEqual([]);
    await parent.cancel("enough");
    expect((await nested.finished).status).toBe("cancelled");
    await expect(test.start({ promptId: "a" })).rejects.toMatchObject({
      details: { reason: "parent_ended" },
    });
  });

  it("are refused at the greatest depth", async () => {
    const test = coordinator({ maxDepth: 2 });
    await test.start({ id: "a" });
    await test.start({ id: "b", promptId: "a" });
    await expect(test.start({ promptId: "b" })).rejects.toMatchObject({
      details: { reason: "depth_exceeded" },
    });
  });
});

it("counts children of workflows towards no limit, and tells nobody of their end", async () => {
  const test = coordinator({ maxConcurrent: 1, atLimit: "fail" });
  await test.start({ owner: "workflow" });
  await test.start({ owner: "workflow" });
  await test.start();
  await test.running(3);
  await expect(test.start()).rejects.toMatchObject({ details: { code: "subagent_limit" } });
  for (const child of test.runner.children) child.end();
  await Promise.all(test.children.list().map((child) => child.finished));
  expect(test.told).toHaveLength(1);
});

it("forgets the oldest of more than 1024 that have ended", async () => {
  const test = coordinator();
  for (let index = 0; index < 1025; index++) {
    const child = await test.start({ id: `c${index}`, owner: "workflow" });
    await child.cancel("test");
  }
  expect(test.children.list()).toHaveLength(1024);
  expect(test.children.get("c0")).toBeUndefined();
  await expect(test.start({ resumeFrom: "c0" })).rejects.toMatchObject({
    details: { reason: "resume_not_found" },
  });
});

it("cuts a result between characters and says so", async () => {
  const test = coordinator();
  const child = await test.start({ outputCap: 4 });
  await test.running(1);
  test.runner.children[0]?.end({ output: "aéé!" });
  expect((await child.finished).output).toBe("aé\n[output truncated: 3 of 6 bytes shown]");
});

it("takes the time itself when the runner has not", async () => {
  const test = coordinator();
  const [measured, reported] = [await test.start({ id: "a" }), await test.start({ id: "b" })];
  await test.running(2);
  await test.clock.advance(1_500);
  // Which of them gets to the runner first is not settled.
  for (const child of test.runner.children) child.end({ durationMs: child.run.id === "b" ? 7 : 0 });
  expect([(await measured.finished).durationMs, (await reported.finished).durationMs]).toEqual([1_500, 7]);
});

it("keeps 256 ends for the model", async () => {
  const test = coordinator({ maxConcurrent: 300 });
  for (let index = 0; index < 257; index++) await test.start({ id: `c${index}` });
  await test.running(257);
  for (const child of test.runner.children) child.end();
  await Promise.all(test.children.list().map((child) => child.finished));
  const ids = test.children.takeCompletions().map(({ id }) => id);
  expect(ids).toHaveLength(256);
  expect(ids).not.toContain("c0");
  expect(test.children.takeCompletions()).toEqual([]);
});

it("counts what it was told as well, so that long prompts do not pile up", async () => {
  const test = coordinator();
  const prompt = "x".repeat(24 * 1024 * 1024);
  for (const id of ["a", "b", "c"]) {
    const child = await test.start({ id, prompt });
    await child.cancel("test");
  }
  expect(test.children.list().map(({ id }) => id)).toEqual(["b", "c"]);
});

it("forgets the oldest ends when their texts are larger than 64 MiB together", async () => {
  const test = coordinator();
  const output = "x".repeat(24 * 1024 * 1024);
  for (const id of ["a", "b", "c"]) {
    const child = await test.start({ id });
    await test.running(test.children.list().length);
    test.runner.children.find(({ run }) => run.id === id)?.end({ output });
    await child.finished;
  }
  expect(test.children.list().map(({ id }) => id)).toEqual(["b", "c"]);
  expect(test.children.takeCompletions().map(({ id }) => id)).toEqual(["b", "c"]);
});
