import { mkdir, readFile, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { temporaryFolder } from "@trivium/core/testing";
import { ErrorCode } from "@trivium/proto/grok-tools";
import { describe, expect, it } from "vitest";
import { z } from "zod";
import type { JsonObject } from "../json.ts";
import type { ToolNotification } from "../notifications/tool-notification.ts";
import { pendingQuestions } from "../questions/pending-questions.ts";
import { testRuntime } from "../testing/test-runtime.ts";
import { toolContext } from "../testing/tool-context.ts";
import { defineTool, type Tool, type ToolContext } from "../tool.ts";
import type { ToolKind } from "../tool-kind.ts";
import { defaultToolSettings } from "../tool-settings.ts";
import { enterPlanMode } from "../tools/grok-build/enter-plan-mode/enter-plan-mode.ts";
import { exitPlanMode } from "../tools/grok-build/exit-plan-mode/exit-plan-mode.ts";
import { planMode } from "./plan-mode.ts";
import { planParams } from "./plan-params.ts";

type Overrides = Partial<ToolContext> & { readonly plan?: JsonObject };

function context(workingDirectory: string, { plan = {}, ...overrides }: Overrides = {}): ToolContext {
  const names: Readonly<Record<string, string>> = { exit_plan: "leave", ask_user: "ask", task: "delegate" };
  return toolContext({
    workingDirectory,
    params: planParams.schema.parse(plan),
    toolName: (kind) => names[kind],
    ...overrides,
  });
}

describe("GrokBuild:enter_plan_mode", () => {
  it("makes an empty plan, tells the host and names the tools that help", async () => {
    await using folder = await temporaryFolder();
    const told: ToolNotification[] = [];
    const { output, promptText } = await enterPlanMode.run(
      { extra: 1 },
      context(folder.path, { notify: (notification) => told.push(notification) }),
    );
    const path = join(folder.path, ".grok/plan.md");
    expect(output).toMatchObject({
      type: "EnterPlanMode",
      Entered: {
        plan_file_path: path,
        plan_file_seed: "empty",
        tool_hints: { ask_user: "ask", exit_plan: "leave", task: "delegate" },
      },
    });
    expect(await readFile(path, "utf8")).toBe("");
    expect(told).toEqual([{ type: "PlanModeEntered", tool_call_id: "call-1" }]);
    for (const token of [path, "it is empty", "ask", "leave", "delegate", "explore"]) {
      expect(promptText).toContain(token);
    }
  });

  it("keeps a plan that is there", async () => {
    await using folder = await temporaryFolder();
    await writeFile(join(folder.path, "my.md"), "do it");
    const { output } = await enterPlanMode.run({}, context(folder.path, { plan: { plan_file: "my.md" } }));
    expect(output).toMatchObject({ Entered: { plan_file_seed: "non_empty" } });
    expect(await readFile(join(folder.path, "my.md"), "utf8")).toBe("do it");
  });

  it("says nothing of a subagent where there is none", async () => {
    await using folder = await temporaryFolder();
    const toolName = (kind: string): string | undefined => (kind === "exit_plan" ? "leave" : undefined);
    const { output, promptText } = await enterPlanMode.run({}, context(folder.path, { toolName }));
    expect(output).toMatchObject({ Entered: { tool_hints: { task: "", ask_user: "" } } });
    expect(promptText).not.toContain("explore");
  });

  it.each([
    ["dir", "not_a_file"],
    ["link.md", "inaccessible"],
    ["file/plan.md", "inaccessible"],
    ["../outside.md", "inaccessible"],
    ["/proc/nothing/plan.md", "not_created"],
    ["~/plan.md", "unavailable"],
  ])("never fails: %s is %s", async (plan_file, missing) => {
    await using folder = await temporaryFolder();
    const project = join(folder.path, "p");
    await mkdir(join(project, "dir"), { recursive: true });
    await writeFile(join(project, "file"), "");
    await symlink(join(folder.path, "elsewhere.md"), join(project, "link.md"));
    const workspaceRoots = plan_file.startsWith("/proc") ? undefined : [project];
    const { output } = await enterPlanMode.run({}, context(project, { workspaceRoots, plan: { plan_file } }));
    expect(output).toMatchObject({ Entered: { plan_file_seed: { missing } } });
  });
});

describe("GrokBuild:exit_plan_mode", () => {
  it("shows the plan", async () => {
    await using folder = await temporaryFolder();
    const told: ToolNotification[] = [];
    const plan_file_path = join(folder.path, "plan.md");
    await writeFile(plan_file_path, "1. do it\n");
    const notify = (notification: ToolNotification): unknown => told.push(notification);
    const { output, promptText } = await exitPlanMode.run(
      {},
      context(folder.path, { notify, plan: { plan_file: "plan.md" } }),
    );
    expect(output).toMatchObject({ PlanReady: { plan_content: "1. do it\n", plan_file_path } });
    expect(promptText).toContain(plan_file_path);
    expect(promptText).toContain("## Plan:\n1. do it\n");
    expect(told).toEqual([
      { type: "PlanModeExited", tool_call_id: "call-1", plan_content: "1. do it\n", plan_file_path },
    ]);
  });

  it.each([" \n", undefined])("says when the plan is empty: %j", async (content) => {
    await using folder = await temporaryFolder();
    if (content !== undefined) await writeFile(join(folder.path, "plan.md"), content);
    const { output, failure } = await exitPlanMode.run(
      {},
      context(folder.path, { plan: { plan_file: "plan.md" } }),
    );
    expect(output).toMatchObject({ EmptyPlan: { plan_file_path: join(folder.path, "plan.md") } });
    expect(failure).toBeUndefined();
  });

  it("reads a mebibyte of a plan", async () => {
    await using folder = await temporaryFolder();
    await writeFile(join(folder.path, "plan.md"), "x".repeat(1024 * 1024 + 10));
    const { output } = await exitPlanMode.run({}, context(folder.path, { plan: { plan_file: "plan.md" } }));
    expect((output["PlanReady"] as { plan_content: string }).plan_content).toHaveLength(1024 * 1024);
  });

  it("is a failure of the server when the place of the plan is not known", async () => {
    const run = exitPlanMode.run({}, context("/", { plan: { plan_file: "~/plan.md" } }));
    await expect(run).rejects.toMatchObject({
      code: ErrorCode.INTERNAL,
      details: { code: "missing_resource" },
    });
  });
});

describe("approval of a plan", () => {
  const settings = { ...defaultToolSettings, answersQuestions: true };
  const plan = { plan_file: "plan.md", require_approval: true };

  it.each([
    [{ outcome: "approved" }, { variant: "PlanReady", reason: undefined, told: ["PlanModeExited"] }],
    [
      { outcome: "cancelled", feedback: "use less code" },
      { variant: "NotApproved", reason: "plan_not_approved", told: [] },
    ],
    [
      { outcome: "abandoned" },
      { variant: "NotApproved", reason: "plan_abandoned", told: ["PlanModeExited"] },
    ],
  ])("ends with %j", async (outcome, expected) => {
    await using folder = await temporaryFolder();
    await writeFile(join(folder.path, "plan.md"), "do it");
    const told: ToolNotification[] = [];
    const asked = context(folder.path, { plan, settings, notify: (one) => told.push(one) });
    const running = exitPlanMode.run({}, asked);
    await expect
      .poll(() => asked.resource(pendingQuestions).list())
      .toMatchObject([
        {
          kind: "plan-approval",
          toolId: "GrokBuild:exit_plan_mode",
          content: { plan_content: "do it", plan_file_path: join(folder.path, "plan.md") },
        },
      ]);
    asked.resource(pendingQuestions).answer("call-1", outcome);
    const { output, failure, promptText } = await running;
    expect(output).toHaveProperty(expected.variant);
    expect(failure?.reason).toBe(expected.reason);
    expect(told.map(({ type }) => type)).toEqual(["UserQuestionAsked", ...expected.told]);
    if ("feedback" in outcome) expect(promptText).toContain("use less code");
  });

  it.each([" \n", undefined])("is not got round with a plan that is empty: %j", async (content) => {
    await using folder = await temporaryFolder();
    if (content !== undefined) await writeFile(join(folder.path, "plan.md"), content);
    const told: ToolNotification[] = [];
    const asked = context(folder.path, { plan, settings, notify: (one) => told.push(one) });
    asked.resource(planMode).enter({ enforce: true, planFile: join(folder.path, "plan.md") });
    const { output, failure, promptText } = await exitPlanMode.run({}, asked);
    expect(output).toHaveProperty("EmptyPlan");
    expect(failure).toMatchObject({ code: ErrorCode.EXECUTION_FAILED, reason: "plan_not_approved" });
    expect(promptText).toContain("stays on");
    expect(asked.resource(planMode).isActive).toBe(true);
    expect(told).toEqual([]);
  });

  it("is not given where nobody can give it", async () => {
    await using folder = await temporaryFolder();
    await writeFile(join(folder.path, "plan.md"), "do it");
    const { failure } = await exitPlanMode.run({}, context(folder.path, { plan }));
    expect(failure).toMatchObject({ code: ErrorCode.EXECUTION_FAILED, reason: "plan_not_approved" });
  });
});

describe("an enforced plan mode", () => {
  const tools = [
    enterPlanMode,
    exitPlanMode,
    pretend("edit", "GrokBuild:search_replace"),
    pretend("edit", "Codex:apply_patch"),
    pretend("execute", "OpenCode:bash"),
    pretend("read", "GrokBuild:read_file"),
  ];
  const ids = (params?: JsonObject): { id: string; params?: JsonObject }[] =>
    tools.map(({ id }) =>
      id === "GrokBuild:enter_plan_mode" && params !== undefined ? { id, params } : { id },
    );

  it("refuses edits and commands, but not those of the plan, until it is left", async () => {
    await using test = await testRuntime(tools);
    await using session = await test.runtime.openSession({ id: "s", tools: ids({ enforce: true }) });
    const run = async (name: string, input: JsonObject = {}): Promise<unknown> => {
      const { result } = await session.execute(name, input);
      return result.ok ? "ok" : result.error;
    };
    const refused = { code: ErrorCode.PERMISSION_DENIED, details: { reason: "plan_mode" } };
    expect(await run("search_replace", { file_path: "src/a.ts" })).toBe("ok");
    await run("enter_plan_mode");
    expect(await run("search_replace", { file_path: "src/a.ts" })).toMatchObject(refused);
    expect(await run("search_replace", { file_path: ".grok/plan.md" })).toBe("ok");
    expect(await run("search_replace", {})).toMatchObject(refused);
    const patch = (path: string): JsonObject => ({ patch: `*** Begin Patch\n*** Add File: ${path}\n+x\n` });
    expect(await run("apply_patch", patch(".grok/plan.md"))).toBe("ok");
    expect(await run("apply_patch", patch("other.md"))).toMatchObject(refused);
    expect(await run("apply_patch", patch(".grok/plan.md\u2028/../../src/a.ts"))).toMatchObject(refused);
    const moving = `*** Update File: .grok/plan.md\n*** Move to: src/a.ts\n`;
    expect(await run("apply_patch", { patch: moving })).toMatchObject(refused);
    expect(await run("bash", { path: ".grok/plan.md" })).toMatchObject({
      ...refused,
      suggestion: expect.stringContaining("exit_plan_mode"),
    });
    expect(await run("read_file")).toBe("ok");
    await run("exit_plan_mode");
    expect(await run("bash")).toBe("ok");
  });

  it("refuses nothing unless it is enforced", async () => {
    await using test = await testRuntime(tools);
    await using session = await test.runtime.openSession({ id: "s", tools: ids() });
    await session.execute("enter_plan_mode", {});
    expect((await session.execute("bash", {})).result.ok).toBe(true);
  });

  it("goes on when the session is opened again", async () => {
    await using test = await testRuntime(tools);
    {
      await using session = await test.runtime.openSession({ id: "s", tools: ids({ enforce: true }) });
      await session.execute("enter_plan_mode", {});
      expect(await session.state()).toMatchObject({
        state: { "trivium.PlanMode": { plan_mode: true, enforce: true } },
      });
    }
    await using session = await test.runtime.openSession({ id: "s", tools: ids() });
    expect((await session.execute("bash", {})).result.ok).toBe(false);
    await session.execute("exit_plan_mode", {});
    expect((await session.state())["state"]).not.toHaveProperty("trivium.PlanMode");
  });

  it.each(["enter", "exit"])("needs both tools, not only %s", async (which) => {
    await using test = await testRuntime(tools);
    const open = test.runtime.openSession({ id: "s", tools: [`GrokBuild:${which}_plan_mode`] });
    await expect(open).rejects.toMatchObject({
      violations: [{ category: "requirements", fieldPath: "tools" }],
    });
  });
});

function pretend(kind: ToolKind, id: string): Tool {
  return defineTool({
    id,
    kind,
    capabilities: { readOnly: kind === "read" },
    description: "Does nothing.",
    input: z.object({}),
    output: { schema: z.object({ type: z.literal("Text") }), fields: [] },
    run: () => Promise.resolve({ output: { type: "Text", text: "" }, promptText: "" }),
  });
}
