import { ManualClock, sequentialIds } from "@trivium/core/testing";
import { describe, expect, it } from "vitest";
import type { JsonObject } from "../json.ts";
import type { ToolNotification } from "../notifications/tool-notification.ts";
import { type FakeSubagents, fakeSubagents } from "../testing/fake-subagents.ts";
import { toolContext } from "../testing/tool-context.ts";
import { type NewTask, Scheduler } from "./scheduler.ts";

const MINUTE_MS = 60_000;
const DAY_MS = 24 * 60 * MINUTE_MS;
const fiveMinutes: NewTask = {
  intervalSecs: 300,
  prompt: "look",
  durable: false,
  foreground: true,
  isDueAtOnce: false,
};
const background: NewTask = { ...fiveMinutes, foreground: false };

type Harness = {
  readonly scheduler: Scheduler;
  readonly clock: ManualClock;
  readonly told: ToolNotification[];
  readonly changes: () => number;
};

function harness(subagents?: FakeSubagents, session = new AbortController()): Harness {
  const clock = new ManualClock();
  const told: ToolNotification[] = [];
  let changes = 0;
  const scheduler = new Scheduler(
    toolContext({
      clock,
      sessionSignal: session.signal,
      ids: sequentialIds(),
      notify: (notification) => told.push(notification),
      stateChanged: () => {
        changes += 1;
      },
      ...(subagents !== undefined && { subagents }),
    }),
  );
  return { scheduler, clock, told, changes: () => changes };
}

const typesOf = (told: readonly ToolNotification[]): string[] => told.map(({ type }) => type);

describe("Scheduler", () => {
  it("tells the host of a task and of each run, with a version that grows by one", async () => {
    const { scheduler, clock, told } = harness();
    const { id, generation } = scheduler.create(fiveMinutes);
    expect(id).toMatch(/^[0-9a-f]{12}$/);
    await clock.advance(5 * MINUTE_MS - 1);
    expect(typesOf(told)).toEqual(["ScheduledTaskCreated"]);
    await clock.advance(1);
    expect(told).toEqual([
      {
        type: "ScheduledTaskCreated",
        task_id: id,
        prompt: "look",
        human_schedule: "every 5 minutes",
        next_fire_at: "2026-01-01T00:05:00.000Z",
        generation,
        revision: 1,
      },
      {
        type: "ScheduledTaskFired",
        task_id: id,
        prompt: "look",
        human_schedule: "every 5 minutes",
        next_fire_at: "2026-01-01T00:10:00.000Z",
        subagent_id: null,
        generation,
        revision: 2,
      },
    ]);
    await clock.advance(10 * MINUTE_MS);
    expect(typesOf(told)).toHaveLength(4);
  });

  it("has one timer, and none without tasks", async () => {
    const { scheduler, clock } = harness();
    expect(clock.pendingTimers).toBe(0);
    const first = scheduler.create(fiveMinutes);
    const second = scheduler.create({ ...fiveMinutes, intervalSecs: 60 });
    expect(clock.pendingTimers).toBe(1);
    scheduler.delete(first.id);
    scheduler.delete(second.id);
    expect(clock.pendingTimers).toBe(0);
  });

  it("fires on the next tick when asked to", async () => {
    const { scheduler, clock, told } = harness();
    scheduler.create({ ...fiveMinutes, isDueAtOnce: true });
    await clock.advance(0);
    expect(typesOf(told)).toEqual(["ScheduledTaskCreated", "ScheduledTaskFired"]);
    await clock.advance(5 * MINUTE_MS);
    expect(typesOf(told)).toHaveLength(3);
  });

  it("removes a task after seven days without firing it then", async () => {
    const { scheduler, clock, told } = harness();
    scheduler.create({ ...fiveMinutes, intervalSecs: 8 * 86_400 });
    await clock.advance(8 * DAY_MS);
    expect(typesOf(told)).toEqual(["ScheduledTaskCreated", "ScheduledTaskRemoved"]);
    expect(told[1]).toMatchObject({ reason: "expired", revision: 2 });
    expect(scheduler.list()).toEqual([]);
    expect(clock.pendingTimers).toBe(0);
  });

  it("lets missed periods collapse into one run", async () => {
    const { scheduler, clock, told } = harness();
    const task = scheduler.create(fiveMinutes);
    // As after a sleep of the machine: the time has passed and no timer has fired.
    task.lastFiredAtMs = clock.now() - 60 * MINUTE_MS;
    await clock.advance(5 * MINUTE_MS);
    expect(typesOf(told)).toEqual(["ScheduledTaskCreated", "ScheduledTaskFired"]);
    expect(task.lastFiredAtMs).toBe(clock.now());
  });

  it("keeps the phase of a task whose interval changes, and starts a new one when it would be due", async () => {
    const { scheduler, clock, told } = harness();
    const task = scheduler.create(fiveMinutes);
    await clock.advance(2 * MINUTE_MS);
    scheduler.update(task, { intervalSecs: 180, prompt: undefined });
    await clock.advance(MINUTE_MS);
    expect(typesOf(told).at(-1)).toBe("ScheduledTaskFired");
    await clock.advance(2 * MINUTE_MS);
    scheduler.update(task, { intervalSecs: 60, prompt: undefined });
    const fired = told.length;
    await clock.advance(MINUTE_MS - 1);
    expect(told).toHaveLength(fired);
    await clock.advance(1);
    expect(typesOf(told).at(-1)).toBe("ScheduledTaskFired");
  });

  it("removes a task on request, and says when there is none", () => {
    const { scheduler, told } = harness();
    const { id } = scheduler.create(fiveMinutes);
    expect(scheduler.delete(id)).toBe(true);
    expect(told.at(-1)).toMatchObject({ type: "ScheduledTaskRemoved", reason: "deleted", revision: 2 });
    expect(scheduler.delete(id)).toBe(false);
  });

  it("ends with the session: no timer, and what is not durable is over", () => {
    const { scheduler, clock, told } = harness();
    scheduler.create(fiveMinutes);
    scheduler.create({ ...fiveMinutes, durable: true });
    scheduler.close();
    expect(clock.pendingTimers).toBe(0);
    expect(told.filter(({ type }) => type === "ScheduledTaskRemoved")).toMatchObject([
      { reason: "shutdown" },
    ]);
    expect(scheduler.save()).toMatchObject({ tasks: [{ durable: true }] });
  });
});

describe("Scheduler state", () => {
  it("holds the durable tasks only, and nothing without any", () => {
    const { scheduler } = harness();
    scheduler.create(fiveMinutes);
    expect(scheduler.save()).toBeUndefined();
    const { id, generation } = scheduler.create({ ...fiveMinutes, durable: true });
    expect(scheduler.save()).toEqual({
      tasks: [
        {
          id,
          intervalSecs: 300,
          prompt: "look",
          recurring: true,
          durable: true,
          foreground: true,
          createdAt: "2026-01-01T00:00:00.000Z",
          lastFiredAt: null,
          expiresAt: "2026-01-08T00:00:00.000Z",
          lastSubagentId: null,
          iterationsSinceFresh: 0,
          chainResetPending: false,
          generation,
          revision: 1,
        },
      ],
    });
  });

  it("comes back as it was, journal included, and is announced in its version", () => {
    const before = harness();
    before.scheduler.create({ ...fiveMinutes, durable: true });
    const saved = { ...(before.scheduler.save() as JsonObject), occurrenceJournal: { x: [1] } };
    const { scheduler, told } = harness();
    expect(scheduler.load(saved)).toBe(true);
    expect(scheduler.save()).toEqual(saved);
    expect(told).toMatchObject([{ type: "ScheduledTaskCreated", revision: 1 }]);
  });

  it("takes over what the original writes, without tasks that are not durable", () => {
    const { scheduler } = harness();
    const task = { intervalSecs: 60, prompt: "p", createdAt: "2026-01-01T00:00:00Z" };
    const tasks = [
      { ...task, id: "00000000000a" },
      { ...task, id: "00000000000b", durable: true },
    ];
    expect(scheduler.load({ tasks })).toBe(true);
    expect(scheduler.list()).toMatchObject([{ id: "00000000000b", revision: 1 }]);
  });

  const endless = { id: "00000000000b", intervalSecs: 1e13, prompt: "p", createdAt: "2026-01-01T00:00:00Z" };
  it.each([3, {}, { tasks: [{ id: "x" }] }, { tasks: [endless] }])(
    "refuses %j and stays as it was",
    (value) => {
      const { scheduler } = harness();
      scheduler.create({ ...fiveMinutes, durable: true });
      expect(scheduler.load(value)).toBe(false);
      expect(scheduler.list()).toHaveLength(1);
    },
  );

  it("tells that tasks are gone when another schedule takes their place", () => {
    const { scheduler, told } = harness();
    const task = { intervalSecs: 60, prompt: "p", durable: true, createdAt: "2026-01-01T00:00:00Z" };
    scheduler.load({ tasks: [{ ...task, id: "00000000000a" }] });
    scheduler.load({ tasks: [{ ...task, id: "00000000000b" }] });
    expect(told).toMatchObject([
      { type: "ScheduledTaskCreated", task_id: "00000000000a" },
      { type: "ScheduledTaskRemoved", task_id: "00000000000a", reason: "unknown", revision: 2 },
      { type: "ScheduledTaskCreated", task_id: "00000000000b" },
    ]);
  });

  it("keeps what becomes due while its session ends for the next life", async () => {
    const session = new AbortController();
    const { scheduler, clock, told } = harness(fakeSubagents(), session);
    scheduler.create({ ...background, durable: true });
    session.abort();
    await clock.advance(5 * MINUTE_MS);
    expect(typesOf(told)).toEqual(["ScheduledTaskCreated"]);
    expect(scheduler.save()).toMatchObject({ tasks: [{ lastFiredAt: null }] });
    expect(clock.pendingTimers).toBe(0);
  });

  it("runs an overdue task once, a little later, after it is restored", async () => {
    const { scheduler, clock, told } = harness();
    const task = { id: "00000000000b", intervalSecs: 60, prompt: "p", durable: true };
    scheduler.load({ tasks: [{ ...task, createdAt: "2025-12-31T00:00:00Z" }] });
    await clock.advance(6_000);
    expect(typesOf(told)).toEqual(["ScheduledTaskCreated", "ScheduledTaskFired"]);
  });
});

describe("Scheduler runs in the background", () => {
  it("start a child with the framed prompt and tell the host its id", async () => {
    const subagents = fakeSubagents();
    const { scheduler, clock, told } = harness(subagents);
    const { id } = scheduler.create(background);
    await clock.advance(5 * MINUTE_MS);
    expect(subagents.children).toHaveLength(1);
    expect(subagents.children[0]?.request).toMatchObject({
      owner: "schedule",
      type: "general-purpose",
      outputCap: 4_000,
      prompt: expect.stringMatching(
        new RegExp(`^<system-reminder>\n.*${id} \\(every 5 minutes\\)[^]*</system-reminder>\n\nlook$`),
      ),
    });
    expect(told.at(-1)).toMatchObject({ type: "ScheduledTaskFired", subagent_id: "child-1", revision: 2 });
  });

  it("are held to what the call was held to that gave the prompt", async () => {
    const subagents = fakeSubagents((child) => child.finish());
    const { scheduler, clock } = harness(subagents);
    const [first, second] = [() => Promise.resolve("no"), () => Promise.resolve("never")];
    const task = scheduler.create({ ...background, authorise: first });
    await clock.advance(5 * MINUTE_MS);
    scheduler.update(task, { intervalSecs: 600, prompt: undefined, authorise: undefined });
    await clock.advance(10 * MINUTE_MS);
    scheduler.update(task, { intervalSecs: undefined, prompt: "look", authorise: second });
    await clock.advance(10 * MINUTE_MS);
    expect(subagents.children.map(({ request }) => request.authorise)).toEqual([first, first, second]);
  });

  it("are left out while the last one goes on, which announces the task again", async () => {
    const subagents = fakeSubagents();
    const { scheduler, clock, told } = harness(subagents);
    scheduler.create(background);
    await clock.advance(10 * MINUTE_MS);
    expect(subagents.children).toHaveLength(1);
    expect(told.at(-1)).toMatchObject({ type: "ScheduledTaskCreated", revision: 3 });
    subagents.children[0]?.finish();
    await clock.advance(5 * MINUTE_MS);
    expect(subagents.children).toHaveLength(2);
  });

  it("continue the last conversation ten times, then start afresh with its end", async () => {
    const subagents = fakeSubagents((child) =>
      child.finish({ output: `</system-reminder>${"x".repeat(700)}` }),
    );
    const { scheduler, clock } = harness(subagents);
    scheduler.create(background);
    await clock.advance(12 * 5 * MINUTE_MS);
    const resumed = subagents.children.map(({ request }) => request.resumeFrom);
    expect(resumed).toEqual([
      undefined,
      ...Array.from({ length: 10 }, (_, index) => `child-${index + 1}`),
      undefined,
    ]);
    const prompt = subagents.children.at(-1)?.request.prompt ?? "";
    expect(prompt).toContain("The run before ended with: <\\/system-reminder>xxx");
    expect(prompt.match(/<\/system-reminder>/g)).toHaveLength(1);
    expect(prompt).not.toContain("x".repeat(600));
  });

  it("start afresh after the prompt has changed", async () => {
    const subagents = fakeSubagents((child) => child.finish());
    const { scheduler, clock } = harness(subagents);
    const task = scheduler.create(background);
    await clock.advance(5 * MINUTE_MS);
    scheduler.update(task, { intervalSecs: undefined, prompt: "look elsewhere" });
    await clock.advance(10 * MINUTE_MS);
    const [, second, third] = subagents.children;
    expect(second?.request.resumeFrom).toBeUndefined();
    expect(second?.request.prompt).not.toContain("The run before");
    expect(third?.request.resumeFrom).toBe("child-2");
  });

  it("are tried again at the next time when no child can be started", async () => {
    const subagents = fakeSubagents();
    subagents.failure = new Error("full");
    const { scheduler, clock, told } = harness(subagents);
    scheduler.create(background);
    await clock.advance(5 * MINUTE_MS);
    expect(told.at(-1)).toMatchObject({ type: "ScheduledTaskCreated", revision: 2 });
    subagents.failure = undefined;
    await clock.advance(5 * MINUTE_MS);
    expect(told.at(-1)).toMatchObject({ type: "ScheduledTaskFired", subagent_id: "child-1" });
  });

  it("do not outlive a task that was removed while its child was being started", async () => {
    const subagents = fakeSubagents(() => void scheduler.delete(task.id));
    const { scheduler, clock, told } = harness(subagents);
    const task = scheduler.create(background);
    await clock.advance(5 * MINUTE_MS);
    expect(subagents.children[0]?.cancelReasons).toEqual(["its scheduled task was removed"]);
    expect(typesOf(told)).toEqual(["ScheduledTaskCreated", "ScheduledTaskRemoved"]);
  });
});
