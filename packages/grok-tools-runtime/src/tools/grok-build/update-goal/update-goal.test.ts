import { Readable } from "node:stream";
import { temporaryFolder } from "@trivium/core/testing";
import { ErrorCode } from "@trivium/proto/grok-tools";
import { describe, expect, it } from "vitest";
import { goal } from "../../../goal/goal.ts";
import { goalParams } from "../../../goal/goal-params.ts";
import type { JsonObject } from "../../../json.ts";
import type { Containment } from "../../../process/command-runner.ts";
import { createCommandRunner, type ProcessRunner } from "../../../process/create-command-runner.ts";
import type { ProgramSpec, RunningProgram } from "../../../process/program-runner.ts";
import { testRuntime } from "../../../testing/test-runtime.ts";
import { toolContext } from "../../../testing/tool-context.ts";
import type { ToolContext } from "../../../tool.ts";
import { defaultToolSettings } from "../../../tool-settings.ts";
import { updateGoal } from "./update-goal.ts";

function context(
  params: JsonObject = { objective: "ship it" },
  overrides: Partial<ToolContext> = {},
): ToolContext {
  return toolContext({ params: goalParams.schema.parse(params), ...overrides });
}

const failed = (code: string): object => ({
  code: ErrorCode.EXECUTION_FAILED,
  details: { kind: "custom", code },
});

describe("GrokBuild:update_goal", () => {
  it("notes progress, block and end, and takes nothing after the end", async () => {
    const session = context();
    expect((await updateGoal.run({ message: "half" }, session)).output).toMatchObject({
      type: "UpdateGoal",
      success: true,
      summary: expect.stringContaining("ship it"),
    });
    await updateGoal.run({ blocked_reason: "no key" }, session);
    expect(session.resource(goal).status).toBe("blocked");
    const { promptText } = await updateGoal.run({ completed: "yes", message: "done" }, session);
    expect(promptText).toContain("is completed");
    expect(session.resource(goal).save()).toMatchObject({
      objective: "ship it",
      status: "completed",
      log: [
        { at: "2026-01-01T00:00:00.000Z", kind: "message", text: "half" },
        { kind: "blocked", text: "no key" },
        { kind: "completed", text: "done" },
      ],
    });
    await expect(updateGoal.run({ message: "more" }, session)).rejects.toMatchObject(
      failed("goal_update_non_active"),
    );
  });

  it("needs a goal", async () => {
    await expect(updateGoal.run({ message: "x" }, context({}))).rejects.toMatchObject(
      failed("goal_not_active"),
    );
  });

  it.each([
    [{}, "message"],
    [{ completed: false }, "message"],
    [{ message: " ", blocked_reason: "" }, "message"],
    [{ completed: true, blocked_reason: "x" }, "blocked_reason"],
    [{ completed: "perhaps" }, "completed"],
    [{ message: "x".repeat(4_001) }, "message"],
    [{ blocked_reason: "x".repeat(4_001) }, "blocked_reason"],
  ])("refuses %j", async (input, field) => {
    await expect(updateGoal.run(input, context())).rejects.toMatchObject({
      code: ErrorCode.INVALID_INPUT,
      details: { field },
    });
  });

  it("keeps the last two hundred notes", async () => {
    const session = context();
    for (let count = 0; count <= 200; count += 1) await updateGoal.run({ message: `m${count}` }, session);
    const saved = session.resource(goal).save() as { log: { text: string }[] };
    expect(saved.log).toHaveLength(200);
    expect(saved.log[0]?.text).toBe("m1");
  });

  it("goes on when the session is opened again, and starts anew with another objective", async () => {
    await using test = await testRuntime([updateGoal]);
    const open = (objective: string): ReturnType<typeof test.runtime.openSession> =>
      test.runtime.openSession({ id: "s", tools: [{ id: "GrokBuild:update_goal", params: { objective } }] });
    {
      await using session = await open("one");
      await session.execute("update_goal", { completed: true });
    }
    {
      await using session = await open("one");
      expect((await session.execute("update_goal", { message: "x" })).result.ok).toBe(false);
    }
    await using session = await open("two");
    expect((await session.execute("update_goal", { message: "x" })).result.ok).toBe(true);
    expect(await session.state()).toMatchObject({
      state: { "trivium.Goal": { objective: "two", status: "active" } },
    });
  });
});

describe("a verifier of the goal", () => {
  async function verified(verifier: string, run: (session: ToolContext) => Promise<void>): Promise<void> {
    await using folder = await temporaryFolder();
    await using runner: ProcessRunner = await createCommandRunner({ dataFolder: `${folder.path}/processes` });
    const params = { objective: "ship it", verifier, max_attempts: 2 };
    await run(
      context(params, {
        workingDirectory: folder.path,
        programRunner: runner.programs,
        environment: { PATH: process.env["PATH"], SECRET_TOKEN: "s" },
      }),
    );
  }

  it("lets the goal be completed when it exits with 0", () =>
    verified('test -z "$SECRET_TOKEN"', async (session) => {
      await updateGoal.run({ completed: true }, session);
      expect(session.resource(goal).status).toBe("completed");
    }));

  it("refuses, says why and how often it may, and then no longer looks", () =>
    verified("echo two tests fail >&2; exit 3", async (session) => {
      const complete = (): Promise<unknown> => updateGoal.run({ completed: true }, session);
      await expect(complete()).rejects.toMatchObject({
        ...failed("goal_classifier_not_achieved"),
        message: expect.stringMatching(/attempt 1 of 2\): exit code 3\ntwo tests fail$/),
      });
      await expect(complete()).rejects.toMatchObject(failed("goal_classifier_cap_reached"));
      await expect(complete()).rejects.toMatchObject(failed("goal_update_post_cap"));
      expect(session.resource(goal).status).toBe("active");
      await updateGoal.run({ blocked_reason: "the tests fail" }, session);
    }));

  it("runs once at a time and ends with its call", () =>
    verified("sleep 60", async (session) => {
      const controller = new AbortController();
      const first = updateGoal.run({ completed: true }, { ...session, signal: controller.signal });
      await expect(updateGoal.run({ completed: true }, session)).rejects.toMatchObject(
        failed("goal_classifier_in_flight"),
      );
      controller.abort(new Error("gone"));
      await expect(first).rejects.toThrow("gone");
      expect(session.resource(goal)).toMatchObject({ isBeingVerified: false, attempts: 0 });
    }));

  const sandboxed = { ...defaultToolSettings, sandbox: "bwrap" as const };

  it.each([false, true])(
    "runs inside the sandbox of the server, with network: %j",
    async (sandboxNetwork) => {
      await using folder = await temporaryFolder();
      const started: ProgramSpec[] = [];
      const session = context(
        { objective: "ship it", verifier: "make test" },
        {
          workingDirectory: folder.path,
          settings: { ...sandboxed, sandboxNetwork },
          commandRunner: { ...toolContext().commandRunner, containment: () => Promise.resolve(bubblewrap) },
          programRunner: { run: (spec) => Promise.resolve(succeeding(started, spec)) },
        },
      );
      await updateGoal.run({ completed: true }, session);
      const { argv } = started[0]!;
      expect(argv[0]).toBe("bwrap");
      expect(argv.includes("--unshare-net")).toBe(!sandboxNetwork);
      expect(argv.slice(argv.indexOf("--chdir"))).toEqual([
        "--chdir",
        folder.path,
        "/bin/sh",
        "-c",
        "exec 2>&1\nmake test",
      ]);
      expect(argv.join(" ")).toContain(`--bind ${folder.path} ${folder.path}`);
    },
  );

  it("does not run where the sandbox of the server does not work", async () => {
    const session = context(
      { objective: "ship it", verifier: "make test" },
      {
        settings: sandboxed,
        commandRunner: {
          ...toolContext().commandRunner,
          containment: () => Promise.resolve({ ...bubblewrap, bubblewrap: false }),
        },
      },
    );
    await expect(updateGoal.run({ completed: true }, session)).rejects.toMatchObject({
      ...failed("goal_update_harness_disabled"),
      retryable: true,
    });
    expect(session.resource(goal)).toMatchObject({ status: "active", attempts: 0, isBeingVerified: false });
  });
});

const bubblewrap: Containment = {
  subreaper: true,
  cgroup: false,
  bubblewrap: true,
  landlock: false,
  summary: "",
};

function succeeding(started: ProgramSpec[], spec: ProgramSpec): RunningProgram {
  started.push(spec);
  const end = { exitCode: 0, signal: null, stderr: new Uint8Array(), durationMs: 1 };
  const ended = Promise.resolve({ reason: "exited" as const, ...end });
  return { stdout: Readable.from([]), ended, stop: () => ended };
}
