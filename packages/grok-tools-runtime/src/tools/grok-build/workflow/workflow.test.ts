import { mkdir, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { abortable } from "@trivium/core";
import { temporaryFolder } from "@trivium/core/testing";
import { ErrorCode } from "@trivium/proto/grok-tools";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { noSubagents } from "../../../subagents/no-subagents.ts";
import { type FakeSubagents, fakeSubagents } from "../../../testing/fake-subagents.ts";
import { testRuntime } from "../../../testing/test-runtime.ts";
import { toolContext } from "../../../testing/tool-context.ts";
import type { ToolContext, ToolOutput } from "../../../tool.ts";
import type { WorkflowEngine } from "../../../workflow/workflow-engine.ts";
import { workflow } from "./workflow.ts";

type Compiled = (...globals: unknown[]) => Promise<void>;
const AsyncFunction = (async () => {}).constructor as new (...source: string[]) => Compiled;

/** Runs programs in this process, which only tests may do. */
const engine: WorkflowEngine = {
  async run(given) {
    const { source, args, signal } = given;
    const output: string[] = [];
    try {
      const program = new AsyncFunction("agent", "parallel", "args", "text", source);
      const running = program(
        (prompt: string, options: null = null) => given.agent({ prompt, options }),
        (items: null) => given.parallel({ items }),
        args,
        (value: unknown) => output.push(typeof value === "string" ? value : JSON.stringify(value)),
      );
      await abortable(running, signal);
      return { output: output.join("\n"), errorText: undefined };
    } catch (thrown) {
      signal.throwIfAborted();
      return { output: output.join("\n"), errorText: String(thrown) };
    }
  },
};

let folder: Awaited<ReturnType<typeof temporaryFolder>>;
beforeEach(async () => {
  folder = await temporaryFolder();
});
afterEach(() => folder[Symbol.asyncDispose]());

const completing = (): FakeSubagents =>
  fakeSubagents((child) => child.finish({ output: `did ${child.request.prompt}` }));

function context(overrides: Partial<ToolContext> = {}): ToolContext {
  return toolContext({
    workingDirectory: folder.path,
    workflowEngine: engine,
    subagents: completing(),
    ...overrides,
  });
}

async function run(input: object, session: ToolContext = context()): Promise<ToolOutput> {
  return (await workflow.run({ ...input }, session)).output;
}

describe("GrokBuild:workflow", () => {
  it("runs a script whose agents are children of the session", async () => {
    const subagents = completing();
    const script = `
      const meta = { name: "review", description: 'Two looks' };
      text(await agent("one " + args.topic, { type: "explore", description: "a look" }));
      text(await parallel(["two", { prompt: "three", isolation: "worktree" }]));`;
    const output = await run({ script, args: { topic: "x" } }, context({ subagents, promptId: "turn" }));
    expect(output).toMatchObject({ type: "Workflow", name: "review" });
    expect(output["run_id"]).not.toBe("");
    expect(output["task_id"]).toBe(output["run_id"]);
    expect(output["message"]).toBe(
      'did one x\n[{"status":"completed","output":"did two","error":null},{"status":"completed","output":"did three","error":null}]',
    );
    expect(subagents.children.map(({ request }) => request)).toMatchObject([
      { prompt: "one x", type: "explore", description: "a look", owner: "workflow", promptId: "turn" },
      { prompt: "two", description: "workflow review" },
      { prompt: "three", isolation: "worktree" },
    ]);
  });

  it("finds scripts by name: the project's first, then the user's", async () => {
    const homeDirectory = join(folder.path, "home");
    for (const at of [folder.path, homeDirectory])
      await mkdir(join(at, ".grok/workflows"), { recursive: true });
    await writeFile(join(homeDirectory, ".grok/workflows/a.js"), 'text("of the user")');
    await writeFile(join(homeDirectory, ".grok/workflows/b.mjs"), 'text("b of the user")');
    await writeFile(join(folder.path, ".grok/workflows/a.js"), 'text("of the project")');
    const session = context({ homeDirectory, workspaceRoots: [folder.path] });
    expect(await run({ name: "a" }, session)).toMatchObject({
      name: "a",
      script_path: join(folder.path, ".grok/workflows/a.js"),
      message: "of the project",
    });
    expect(await run({ name: "b" }, session)).toMatchObject({ message: "b of the user" });
    await expect(run({ name: "c" }, session)).rejects.toMatchObject({
      code: ErrorCode.FILE_NOT_FOUND,
      suggestion: "There are: a, b.",
    });
  });

  it("takes a script from a file, inside the allowed folders", async () => {
    await writeFile(join(folder.path, "my.js"), "text(args)");
    await mkdir(join(folder.path, "p"));
    await symlink(join(folder.path, "my.js"), join(folder.path, "p/link.js"));
    expect(await run({ script_path: "my.js", args: 3 })).toMatchObject({ name: "my", message: "3" });
    const jailed = context({
      workingDirectory: join(folder.path, "p"),
      workspaceRoots: [join(folder.path, "p")],
    });
    await expect(run({ script_path: "link.js" }, jailed)).rejects.toMatchObject({
      code: ErrorCode.PERMISSION_DENIED,
    });
    await expect(run({ script_path: "none.js" })).rejects.toMatchObject({ code: ErrorCode.FILE_NOT_FOUND });
  });

  it("checks a script without running it", async () => {
    const subagents = completing();
    const session = context({ subagents });
    const script = `const meta = { name: "x" }; await agent("a")`;
    expect(await run({ script, validate_only: "yes" }, session)).toMatchObject({
      run_id: "",
      task_id: "",
      name: "x",
    });
    await expect(run({ script: "let = ;", validate_only: true }, session)).rejects.toMatchObject({
      code: ErrorCode.INVALID_INPUT,
      message: expect.stringContaining("SyntaxError"),
    });
    expect(subagents.children).toEqual([]);
  });

  it.each([
    [{}, "0 were given"],
    [{ name: " ", script: "" }, "0 were given"],
    [{ name: "a", script: "1" }, "exactly one"],
    [{ resume_from_run_id: "r", script: "1" }, "none of name, script, script_path"],
    [{ resume_from_run_id: "r" }, "no run of this session has the id r"],
    [{ name: "../a" }, "no name of a workflow"],
    [{ script: "const meta = { name: 1 };" }, "something else than texts"],
  ])("refuses %j", async (input, message) => {
    await expect(run(input)).rejects.toMatchObject({
      code: ErrorCode.INVALID_INPUT,
      message: expect.stringContaining(message),
      details: expect.objectContaining({ code: "workflow_invalid_input" }),
    });
  });

  it.each([0, 1025, 1.5, "many"])("refuses the budget %j", async (agent_budget) => {
    await expect(run({ script: "1", agent_budget })).rejects.toMatchObject({ code: ErrorCode.INVALID_INPUT });
  });

  it("starts none of a list that is beyond the budget, and names both numbers", async () => {
    const subagents = completing();
    const script = `await agent("a"); await parallel(["b", "c"])`;
    await expect(run({ script, agent_budget: 2 }, context({ subagents }))).rejects.toMatchObject({
      code: ErrorCode.EXECUTION_FAILED,
      message: expect.stringMatching(/asks for 3 agents, but its agent_budget is 2/),
    });
    expect(subagents.children).toHaveLength(1);
  });

  it("tells the script of a child that failed, and of arguments that are wrong", async () => {
    const subagents = fakeSubagents((child) => child.finish({ status: "failed", error: "no luck" }));
    const caught = (call: string): string => `try { await ${call} } catch (error) { text(error.message) }`;
    const script = [`agent("a")`, `agent(3)`, `agent("a", { colour: 1 })`, `parallel("a")`]
      .map(caught)
      .join("\n");
    const { promptText } = await workflow.run({ script }, context({ subagents }));
    const [failed, ...wrong] = promptText.split("\n");
    expect(failed).toBe("the agent failed: no luck");
    expect(wrong).toEqual([
      expect.stringMatching(/^agent\(prompt, .*\): prompt: /),
      expect.stringMatching(/^agent\(prompt, .*colour/),
      expect.stringMatching(/^parallel\(/),
    ]);
  });

  it("gives the other results of a list when one child cannot be started", async () => {
    const script = `text(await parallel(["a"]))`;
    const output = await run({ script }, context({ subagents: noSubagents }));
    expect(output["message"]).toBe(
      '[{"status":"failed","output":"","error":"nobody runs subagents for this session"}]',
    );
  });

  it("runs 32 children at a time", async () => {
    const subagents = fakeSubagents();
    const running = run(
      { script: `await parallel(Array.from({ length: 40 }, (_, n) => "p" + n))` },
      context({ subagents }),
    );
    await expect.poll(() => subagents.children.length).toBe(32);
    for (const child of subagents.children.slice(0, 8)) child.finish();
    await expect.poll(() => subagents.children.length).toBe(40);
    for (const child of subagents.children) child.finish();
    await running;
  });

  it("goes on where an earlier run failed: children that had completed are not asked again", async () => {
    const subagents = fakeSubagents((child) => {
      const isFirst = subagents.children.length <= 2;
      child.finish(
        isFirst && child.request.prompt === "b" ? { status: "failed", error: "x" } : { output: "fine" },
      );
    });
    const session = context({ subagents });
    const script = `text(await agent("a")); text(await agent("b"))`;
    const failure = await run({ script, agent_budget: 2 }, session).catch((thrown: unknown) => thrown);
    expect(failure).toMatchObject({ code: ErrorCode.EXECUTION_FAILED });
    const runId = (failure as { details: { run_id: string } }).details.run_id;
    const output = await run({ resume_from_run_id: runId }, session);
    expect(output["message"]).toBe("fine\nfine");
    expect(output["run_id"]).not.toBe(runId);
    expect(subagents.children.map(({ request }) => request.prompt)).toEqual(["a", "b", "b"]);
  });

  it("ends its children when it is cancelled", async () => {
    const subagents = fakeSubagents();
    const controller = new AbortController();
    const running = run(
      { script: `await parallel(["a", "b"])` },
      context({ subagents, signal: controller.signal }),
    );
    await expect.poll(() => subagents.children.length).toBe(2);
    controller.abort(new Error("gone"));
    await expect(running).rejects.toThrow("gone");
    expect(subagents.children.map(({ cancelReasons }) => cancelReasons.length)).toEqual([1, 1]);
  });

  it("ends children that the script has not waited for", async () => {
    const subagents = fakeSubagents();
    await run(
      { script: `agent("a").catch(() => {}); await new Promise((resolve) => setTimeout(resolve))` },
      context({ subagents }),
    );
    expect(subagents.children.map(({ cancelReasons }) => cancelReasons)).toEqual([
      ["its workflow has ended"],
    ]);
  });

  it("is not for subagents", async () => {
    const subagents = fakeSubagents();
    const child = await subagents.start({ prompt: "p", description: "d", owner: "background" });
    await expect(run({ script: "1" }, context({ subagents, promptId: child.id }))).rejects.toMatchObject({
      code: ErrorCode.INVALID_INPUT,
      details: { code: "workflow_depth_exceeded" },
    });
  });

  it.each([
    [undefined, true],
    [engine, false],
  ])(
    "is hidden and not implemented without an engine or with the setting off",
    async (workflowEngine, isOn) => {
      await using test = await testRuntime([workflow], {
        ...(workflowEngine !== undefined && { workflowEngine }),
        settings: { workflow: isOn },
      });
      const session = test.runtime.sessions.session("s");
      expect(session.listTools()).toMatchObject([{ isEnabled: false }]);
      await session.finalize({ tools: [{ id: "GrokBuild:workflow" }] });
      expect((await session.execute("workflow", {})).result).toMatchObject({
        error: { code: ErrorCode.NOT_IMPLEMENTED, details: { unavailable: "workflow_engine" } },
      });
    },
  );

  it("is listed with an engine", async () => {
    await using test = await testRuntime([workflow], { workflowEngine: engine });
    expect(test.runtime.sessions.session("s").listTools()).toMatchObject([{ isEnabled: true }]);
  });
});

it("describes itself with the session's names of its parameters", async () => {
  await using test = await testRuntime([workflow], { workflowEngine: engine });
  const paramsNameOverrides = { script: "program", resume_from_run_id: "previous" };
  const tools = [{ id: "GrokBuild:workflow", paramsNameOverrides }];
  await using session = await test.runtime.openSession({ id: "s", tools });
  const { description } = session.toolInfo("workflow");
  expect(description).toContain("one of `name`, `program` and `script_path`");
  expect(description).toContain("only its `previous`");
});
