import { mkdir, writeFile } from "node:fs/promises";
import { TriviumError } from "@trivium/core";
import { ErrorCode } from "@trivium/proto/grok-tools";
import { describe, expect, it } from "vitest";
import type { GrokToolsRuntimeOptions } from "../../../grok-tools-runtime.ts";
import type { CallbackLink } from "../../../notifications/callback-dialer.ts";
import { type ScriptedRunner, scriptedRunner } from "../../../testing/scripted-runner.ts";
import { type TestRuntime, testRuntime } from "../../../testing/test-runtime.ts";
import type { ToolSession } from "../../../tool-session.ts";
import { getTaskOutput } from "../get-task-output/get-task-output.ts";
import { killTask } from "../kill-task/kill-task.ts";
import { listDir } from "../list-dir/list-dir.ts";
import { waitTasks } from "../wait-tasks/wait-tasks.ts";
import { task } from "./task.ts";

const tools = [task, getTaskOutput, killTask, waitTasks, listDir];
const configured = ["task", "get_task_output", "kill_task", "wait_tasks", "list_dir"].map(
  (name) => `GrokBuild:${name}`,
);

interface Opened extends AsyncDisposable {
  readonly test: TestRuntime;
  readonly session: ToolSession;
  readonly runner: ScriptedRunner;
  spawn(input?: object, options?: object): ReturnType<ToolSession["execute"]>;
}

async function open(
  options: Partial<GrokToolsRuntimeOptions> & {
    runner?: ScriptedRunner;
    prepare?: (workspace: string) => Promise<void>;
  } = {},
): Promise<Opened> {
  const { runner = scriptedRunner(), prepare, ...overrides } = options;
  const test = await testRuntime(tools, { subagentRunner: runner, ...overrides });
  await prepare?.(test.workspace);
  const session = await test.runtime.openSession({
    id: "s",
    tools: configured,
    systemRemindersEnabled: true,
  });
  return {
    test,
    session,
    runner,
    spawn: (input = {}, call = {}) =>
      session.execute("task", { prompt: "p", description: "look around", ...input }, call),
    [Symbol.asyncDispose]: () => test[Symbol.asyncDispose](),
  };
}

/** Lets promise reactions and short file operations finish. */
async function reached(opened: Pick<Opened, "runner">, count: number): Promise<void> {
  while (opened.runner.children.length < count) await new Promise((resolve) => setImmediate(resolve));
}

const errorOf = (answer: Awaited<ReturnType<ToolSession["execute"]>>) => {
  if (answer.result.ok) throw new Error(`no error: ${answer.result.promptText}`);
  return answer.result.error;
};
const textOf = (answer: Awaited<ReturnType<ToolSession["execute"]>>) => {
  if (!answer.result.ok) throw answer.result.error;
  return answer.result.promptText;
};

describe("GrokBuild:task", () => {
  it("starts in the background by default and says how to get the result, with the session's names", async () => {
    await using opened = await open();
    const text = textOf(await opened.spawn({ task_id: "a" }));
    expect(text).toContain("subagent_id: a\ntype: general-purpose\ndescription: look around");
    expect(text).toContain('get_task_output: task_ids ["a"], and timeout_ms');
    await reached(opened, 1);
    expect(opened.runner.children[0]?.run).toMatchObject({ id: "a", parentSessionId: "s", cwd: undefined });
    expect(opened.runner.children[0]?.run.toolNames).not.toContain("task");
  });

  it.each([false, "false", 0])("waits for the result when run_in_background is %j", async (value) => {
    await using opened = await open();
    const answer = opened.spawn({ run_in_background: value, task_id: "a" });
    await reached(opened, 1);
    opened.runner.children[0]?.end({ output: "found" });
    expect(textOf(await answer)).toBe(
      'found\n<subagent_result>\nsubagent_id: a\nsubagent_type: general-purpose\nTo go on with it: resume_from="a"\n</subagent_result>',
    );
  });

  it("answers after 45 seconds while the subagent works on, and tells its end later, once", async () => {
    await using opened = await open();
    const answer = opened.spawn({ run_in_background: false, task_id: "slow" });
    await reached(opened, 1);
    await opened.test.clock.advance(44_999);
    let isAnswered = false;
    void answer.then(() => (isAnswered = true));
    await opened.test.clock.advance(0);
    expect(isAnswered).toBe(false);
    await opened.test.clock.advance(1);
    expect(textOf(await answer)).toMatch(/subagent_id: slow[\s\S]*You will be notified when it ends\.$/);
    opened.runner.children[0]?.end();
    await opened.session.execute("list_dir", { target_directory: "." });
    const list = textOf(await opened.session.execute("list_dir", { target_directory: "." }));
    expect(list).not.toContain("slow");
    const output = textOf(await opened.session.execute("get_task_output", { task_ids: ["slow"] }));
    expect(output).toContain("Status: completed");
    expect(output).toContain("result of slow");
  });

  it("reminds of a background subagent that has ended, and saves that it did", async () => {
    await using opened = await open();
    await opened.spawn({ task_id: "bg" });
    await reached(opened, 1);
    opened.runner.children[0]?.end();
    await opened.test.clock.advance(0);
    const text = textOf(await opened.session.execute("list_dir", { target_directory: "." }));
    expect(text).toMatch(
      /<system-reminder>\nSubagent bg \(general-purpose: look around\) has completed after .*2 tool calls, 3 turns/,
    );
    expect(await opened.session.state()).toMatchObject({
      state: { "grok_build.ReportedTaskCompletions": { reported: ["bg"] } },
    });
  });

  it("does not remind of a result that a waiting call has received", async () => {
    await using opened = await open();
    await opened.spawn({ task_id: "bg" });
    await reached(opened, 1);
    const waiting = opened.session.execute("wait_tasks", {
      task_ids: ["bg"],
      mode: "wait_all",
      timeout_ms: 10_000,
    });
    await opened.test.clock.advance(0);
    opened.runner.children[0]?.end();
    expect(textOf(await waiting)).toContain("1/1 tasks completed (wait_all)");
    expect(textOf(await opened.session.execute("list_dir", { target_directory: "." }))).not.toContain(
      "reminder",
    );
  });

  it("cancels the subagent with the call that waits for it", async () => {
    await using opened = await open();
    const controller = new AbortController();
    const answer = opened.spawn({ run_in_background: false }, { signal: controller.signal });
    await reached(opened, 1);
    controller.abort(new Error("gone"));
    await expect(answer).rejects.toThrow("gone");
    expect(opened.runner.children[0]?.signal.aborted).toBe(true);
  });

  it.each([
    ["a failure", { isSuccess: false, error: "no luck" }, ErrorCode.EXECUTION_FAILED],
    ["a cancellation, which wins over success", { isCancelled: true }, ErrorCode.CANCELLED],
  ])("answers %s with an error that names the subagent", async (_what, outcome, code) => {
    await using opened = await open();
    const answer = opened.spawn({ run_in_background: false, task_id: "a" });
    await reached(opened, 1);
    opened.runner.children[0]?.end(outcome);
    expect(errorOf(await answer)).toMatchObject({ code, details: { subagent_id: "a" } });
  });

  it("survives a runner that throws", async () => {
    await using opened = await open();
    const answer = opened.spawn({ run_in_background: false });
    await reached(opened, 1);
    opened.runner.children[0]?.fail(new TypeError("secret"));
    expect(errorOf(await answer).message).toBe("the subagent could not be run");
  });

  it("is not there when nobody runs subagents", async () => {
    await using test = await testRuntime(tools);
    const session = await test.runtime.openSession({ id: "s", tools: configured });
    const error = errorOf(await session.execute("task", {}));
    expect(error.code).toBe(ErrorCode.NOT_IMPLEMENTED);
    expect(error.details).toMatchObject({ unavailable: "subagent_host", tool_id: "GrokBuild:task" });
    expect(error.suggestion).toContain("client_callback_addr");
  });

  it("needs tools that show and end tasks", async () => {
    await using test = await testRuntime(tools);
    await expect(test.runtime.openSession({ id: "s", tools: ["GrokBuild:task"] })).rejects.toMatchObject({
      violations: [{ toolId: "GrokBuild:task" }],
    });
  });

  it.each([
    [{ subagent_type: "nope" }, "there are: explore, general-purpose, plan"],
    [{ cwd: "/does/not/exist" }, "not an existing directory"],
    [{ cwd: ".", isolation: "work-tree" }, "either cwd or isolation"],
    [{ isolation: "worktree" }, "needs a git repository"],
    [{ task_id: "../../etc" }, "letters, digits"],
    [{ resume_from: "unknown" }, "there is no subagent unknown"],
  ])("refuses %j", async (input, message) => {
    await using opened = await open();
    const error = errorOf(await opened.spawn(input));
    expect(error.code).toBe(ErrorCode.INVALID_INPUT);
    expect(error.message).toContain(message);
  });

  it("names parameters as the session does", async () => {
    await using test = await testRuntime(tools, { subagentRunner: scriptedRunner() });
    const [, ...others] = configured;
    const paramsNameOverrides = {
      cwd: "folder",
      isolation: "apart",
      resume_from: "previous",
      model: "brain",
    };
    const renamed = { id: "GrokBuild:task", paramsNameOverrides };
    const session = await test.runtime.openSession({ id: "s", tools: [renamed, ...others] });
    const refuse = async (input: object) =>
      errorOf(await session.execute("task", { prompt: "p", description: "d", ...input }));
    const missing = await refuse({ folder: "/does/not/exist" });
    expect(missing.message).toMatch(/^folder \/does\/not\/exist is not/);
    expect(missing.details).toMatchObject({ field: "folder" });
    expect((await refuse({ folder: ".", apart: "worktree" })).message).toContain("either folder or apart");
    expect((await refuse({ apart: "worktree" })).message).toMatch(/^apart "worktree" needs/);
    expect((await refuse({ previous: "x" })).message).toContain("start one without previous");
  });

  it("says how to go on with a subagent in the words of the session", async () => {
    const runner = scriptedRunner();
    await using test = await testRuntime(tools, { subagentRunner: runner });
    const [, ...others] = configured;
    const renamed = { id: "GrokBuild:task", paramsNameOverrides: { resume_from: "previous" } };
    const session = await test.runtime.openSession({ id: "s", tools: [renamed, ...others] });
    const input = { prompt: "p", description: "d", run_in_background: false, task_id: "a" };
    const answer = session.execute("task", input);
    await reached({ runner }, 1);
    runner.children[0]?.end();
    expect(textOf(await answer)).toContain('To go on with it: previous="a"');
  });

  it("treats words for nothing as nothing and cleans the folder", async () => {
    await using opened = await open();
    await opened.spawn({ cwd: "none", resume_from: "null", model: " ", isolation: null });
    await reached(opened, 1);
    expect(opened.runner.children[0]?.run).toMatchObject({
      cwd: undefined,
      resumeFrom: undefined,
      model: undefined,
    });
    await mkdir(`${opened.test.workspace}/sub`);
    await opened.spawn({ cwd: '`"sub"`' });
    await reached(opened, 2);
    expect(opened.runner.children[1]?.run.cwd).toBe(`${opened.test.workspace}/sub`);
  });

  it("asks the runner about a model, and does without one when there is nobody to ask", async () => {
    await using opened = await open();
    expect(errorOf(await opened.spawn({ model: "m" })).details).toMatchObject({
      code: "validation_unavailable",
    });
    const runner = { ...scriptedRunner(), acceptsModel: (model: string) => model === "m" };
    await using asked = await open({ runner });
    expect(errorOf(await asked.spawn({ model: "x" })).code).toBe(ErrorCode.INVALID_INPUT);
    await asked.spawn({ model: "m" });
    await reached(asked, 1);
    expect(runner.children[0]?.run.model).toBe("m");
  });

  it("refuses calls of a subagent, which has the greatest depth", async () => {
    await using opened = await open();
    await opened.spawn({ task_id: "a" });
    const error = errorOf(await opened.spawn({}, { promptId: "a" }));
    expect(error).toMatchObject({ code: ErrorCode.INVALID_INPUT, details: { reason: "depth_exceeded" } });
  });

  it("refuses an id twice, also when the first has ended", async () => {
    await using opened = await open();
    await opened.spawn({ task_id: "a" });
    await reached(opened, 1);
    opened.runner.children[0]?.end();
    expect(errorOf(await opened.spawn({ task_id: "a" })).details).toMatchObject({ reason: "duplicate_id" });
  });

  it("lists the types of the project when definitions are read, the built-in ones otherwise", async () => {
    const prepare = async (workspace: string): Promise<void> => {
      await mkdir(`${workspace}/.grok/agents`, { recursive: true });
      await writeFile(
        `${workspace}/.grok/agents/critic.md`,
        "---\ndescription: Finds faults.\ntools: LS\n---\nBe strict.",
      );
    };
    await using opened = await open({ settings: { agentDefinitions: true }, prepare });
    expect(opened.session.toolInfo("task").description).toContain("- critic: Finds faults.\n- explore:");
    await opened.spawn({ subagent_type: "critic" });
    await reached(opened, 1);
    expect(opened.runner.children[0]?.run).toMatchObject({
      type: "critic",
      toolNames: ["list_dir"],
      systemPrompt: expect.stringContaining("Be strict."),
    });
    await using without = await open({ prepare });
    expect(errorOf(await without.spawn({ subagent_type: "critic" })).code).toBe(ErrorCode.INVALID_INPUT);
  });
});

describe("what the host is told", () => {
  async function hosted() {
    const sent: { type: string }[] = [];
    const runner = scriptedRunner();
    const link: CallbackLink = {
      run: (child, signal) => runner.run(child, signal),
      connect: () => Promise.resolve(),
      ready: () => Promise.resolve(),
      notify: ({ notificationJson }) => Promise.resolve(void sent.push(JSON.parse(notificationJson))),
      [Symbol.asyncDispose]: () => Promise.resolve(),
    };
    const test = await testRuntime(tools, { callbacks: { dialer: { open: () => link } } });
    const session = await test.runtime.openSession({ id: "s", tools: configured, clientCallbackAddr: "h:1" });
    return {
      test,
      session,
      runner,
      sent,
      spawn: (input: object) =>
        session.execute("task", { prompt: "p", description: "look around", ...input }),
      [Symbol.asyncDispose]: () => test[Symbol.asyncDispose](),
    };
  }

  it.each([
    ["completed", {}, null],
    ["failed", { isSuccess: false, error: "no luck" }, "no luck"],
  ])("is that a background subagent has %s", async (status, outcome, error) => {
    await using opened = await hosted();
    await opened.spawn({ task_id: "bg" });
    await reached(opened, 1);
    opened.runner.children[0]?.end(outcome);
    await opened.test.clock.advance(0);
    expect(opened.sent).toEqual([
      {
        type: "SubagentCompleted",
        subagent_id: "bg",
        subagent_type: "general-purpose",
        description: "look around",
        status,
        error,
        duration_ms: 0,
        owner_session_id: "s",
      },
    ]);
  });

  it("is nothing about one that a call waits for, and nothing about a cancelled one", async () => {
    await using opened = await hosted();
    const answer = opened.spawn({ run_in_background: false });
    await reached(opened, 1);
    opened.runner.children[0]?.end();
    await answer;
    await opened.spawn({ task_id: "b" });
    await reached(opened, 2);
    await opened.session.execute("kill_task", { task_id: "b" });
    await opened.test.clock.advance(0);
    expect(opened.sent).toEqual([]);
  });
});

describe("the line of subagents", () => {
  const one = { environment: { GROK_MAX_CONCURRENT_SUBAGENTS: "1" } };

  it("starts them one after the other at the limit", async () => {
    await using opened = await open(one);
    await opened.spawn({ task_id: "a" });
    await opened.spawn({ task_id: "b" });
    await reached(opened, 1);
    expect(textOf(await opened.session.execute("get_task_output", { task_ids: ["b"] }))).toContain(
      "Status: initializing",
    );
    opened.runner.children[0]?.end();
    await reached(opened, 2);
    expect(opened.runner.children.map(({ run }) => run.id)).toEqual(["a", "b"]);
  });

  it("takes a killed one out without telling the runner", async () => {
    await using opened = await open(one);
    await opened.spawn({ task_id: "a" });
    await opened.spawn({ task_id: "b" });
    expect(textOf(await opened.session.execute("kill_task", { task_id: "b" }))).toMatch(/^killed: /);
    expect(textOf(await opened.session.execute("get_task_output", { task_ids: ["b"] }))).toContain(
      "Status: cancelled",
    );
    await reached(opened, 1);
    opened.runner.children[0]?.end();
    await opened.test.clock.advance(0);
    expect(opened.runner.children).toHaveLength(1);
  });

  it("refuses at the limit where that is wanted, naming it", async () => {
    const environment = { ...one.environment, GROK_SUBAGENT_LIMIT_BEHAVIOR: "fail" };
    await using opened = await open({ environment });
    await opened.spawn();
    const error = errorOf(await opened.spawn());
    expect(error).toMatchObject({
      code: ErrorCode.EXECUTION_FAILED,
      details: { code: "subagent_limit", limit: 1 },
    });
    expect(error.message).toMatch(/^1 subagents run already/);
  });
});

describe("going on with a subagent", () => {
  it("keeps type, folder and model of the first", async () => {
    await using opened = await open();
    await mkdir(`${opened.test.workspace}/sub`);
    await opened.spawn({ task_id: "a", subagent_type: "explore", cwd: "sub" });
    await reached(opened, 1);
    expect(errorOf(await opened.spawn({ resume_from: "a" })).message).toContain("still runs");
    opened.runner.children[0]?.end();
    await opened.test.clock.advance(0);
    expect(errorOf(await opened.spawn({ resume_from: "a", subagent_type: "plan" })).message).toContain(
      "of type explore",
    );
    await opened.spawn({ resume_from: "a", task_id: "b" });
    await reached(opened, 2);
    expect(opened.runner.children[1]?.run).toMatchObject({
      id: "b",
      type: "explore",
      resumeFrom: "a",
      cwd: `${opened.test.workspace}/sub`,
    });
  });
});

describe("ending subagents", () => {
  it("kills a running one, once, and tells nobody of its end", async () => {
    await using opened = await open();
    await opened.spawn({ task_id: "a" });
    await reached(opened, 1);
    const kill = () => opened.session.execute("kill_task", { task_id: "a" });
    expect(textOf(await kill())).toMatch(/^killed: /);
    expect(textOf(await kill())).toMatch(/^already_exited: .*cancelled/);
    expect(textOf(await opened.session.execute("list_dir", { target_directory: "." }))).not.toContain(
      "reminder",
    );
  });

  it("records one as cancelled after five seconds although it does not stop", async () => {
    await using opened = await open({ runner: scriptedRunner({ keepsRunning: true }) });
    await opened.spawn({ task_id: "a" });
    await reached(opened, 1);
    const killed = opened.session.execute("kill_task", { task_id: "a" });
    await opened.test.clock.advance(5_000);
    expect(textOf(await killed)).toMatch(/^killed: /);
  });

  it("ends those of one turn, or all, and then starts none until the next turn", async () => {
    await using opened = await open();
    await opened.spawn({ task_id: "a" }, { promptId: "t1" });
    await opened.spawn({ task_id: "b" }, { promptId: "t2" });
    await reached(opened, 2);
    await opened.session.subagents.cancelTurn("t1", "the turn was interrupted");
    const cancelled = () =>
      opened.runner.children.filter(({ signal }) => signal.aborted).map(({ run }) => run.id);
    expect(cancelled()).toEqual(["a"]);
    await opened.session.subagents.stop("the user pressed stop");
    expect(cancelled().sort()).toEqual(["a", "b"]);
    expect(errorOf(await opened.spawn()).details).toMatchObject({ code: "channel_closed" });
    opened.session.subagents.reopen();
    await opened.spawn();
    await reached(opened, 3);
  });

  it("ends all with the session, which is busy until then", async () => {
    await using opened = await open();
    await opened.spawn();
    await reached(opened, 1);
    expect(opened.session.isBusy).toBe(true);
    await opened.session.close();
    expect(opened.runner.children[0]?.signal.aborted).toBe(true);
  });
});

it("asks a runner that says why it cannot run anything", async () => {
  const runner = {
    ...scriptedRunner(),
    connect: () => Promise.reject(new TriviumError("unavailable", "nobody is there")),
  };
  await using opened = await open({ runner });
  expect(errorOf(await opened.spawn())).toMatchObject({
    code: ErrorCode.EXECUTION_FAILED,
    retryable: true,
    details: { code: "callback_unreachable" },
  });
});
