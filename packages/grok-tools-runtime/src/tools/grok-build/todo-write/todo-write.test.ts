import { ErrorCode } from "@trivium/proto/grok-tools";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { echo } from "../../../testing/sample-tools.ts";
import { type TestRuntime, testRuntime } from "../../../testing/test-runtime.ts";
import type { ToolSession } from "../../../tool-session.ts";
import { todowrite } from "../../opencode/todowrite/todowrite.ts";
import { todoWrite } from "./todo-write.ts";

let test: TestRuntime;
let session: ToolSession;
beforeEach(async () => {
  test = await testRuntime([todoWrite, todowrite, echo]);
  session = await open();
});
afterEach(() => test[Symbol.asyncDispose]());

const open = (options: { initialToolStateJson?: string; id?: string } = {}): Promise<ToolSession> =>
  test.runtime.openSession({
    id: "todo",
    tools: ["GrokBuild:todo_write", "OpenCode:todowrite", "Sample:echo"],
    systemRemindersEnabled: true,
    ...options,
  });

const write = async (input: object, tool = "todo_write") =>
  (await session.execute(tool, input as never)).result;
const prompt = async (input: object, tool?: string): Promise<string> => {
  const result = await write(input, tool);
  return result.ok ? result.promptText : result.error.message;
};

describe("GrokBuild:todo_write", () => {
  it("keeps the order of ids that look like numbers, in the output, the state and a session made from it", async () => {
    const todos = [{ id: "10" }, { id: "b" }, { id: "2" }];
    const result = await write({ todos });
    expect(result.ok && JSON.stringify(result.output)).toMatch(/"state":\{"todos":\{"10":.*"b":.*"2":/);
    const state = JSON.stringify(await session.state());
    expect(state).toMatch(/"grok_build.Todo":\{"todos":\{"10":.*"b":.*"2":/);
    session = await open({ id: "again", initialToolStateJson: state });
    expect(JSON.stringify(await session.state())).toBe(state);
    expect(await prompt({ todos: [] })).toBe("- [pending] 10: 10\n- [pending] b: b\n- [pending] 2: 2\n");
    await session.close();
    // The state file is read the same way.
    session = await open({ id: "again" });
    expect(JSON.stringify(await session.state())).toBe(state);
  });

  it("takes a list of known ids without texts as changes, although it was told to replace", async () => {
    await write({
      todos: [
        { id: "1", content: "A", priority: "high" },
        { id: "2", content: "B" },
      ],
    });
    expect(await prompt({ merge: false, todos: [{ id: "1", status: "cancelled" }] })).toBe(
      "- [cancelled] 1: A\n- [pending] 2: B\n",
    );
    expect(await prompt({ merge: false, todos: [{ id: "1", status: "completed" }, { id: "3" }] })).toBe(
      "- [completed] 1: 1\n- [pending] 3: 3\n",
    );
  });

  it("hands on what another program keeps beside a task", async () => {
    const saved = { content: "A", priority: "low", status: "pending", meta: { "2": 1 } };
    session = await open({
      id: "meta",
      initialToolStateJson: JSON.stringify({ state: { "grok_build.Todo": { todos: { x: saved } } } }),
    });
    await write({ todos: [{ id: "x", status: "completed" }] });
    expect(await session.state()).toMatchObject({
      state: { "grok_build.Todo": { todos: { x: { ...saved, status: "completed" } } } },
    });
  });

  it("refuses more tasks than it keeps and changes nothing", async () => {
    const many = Array.from({ length: 200 }, (_, index) => ({ id: `t${index}` }));
    expect((await write({ todos: many })).ok).toBe(true);
    const result = await write({ todos: [{ id: "one more" }] });
    expect(!result.ok && result.error.code).toBe(ErrorCode.INVALID_INPUT);
    expect(await prompt({ todos: [] })).not.toContain("one more");
  });

  it("says nothing in the state of a session that never had a list", async () => {
    expect(await session.state()).toMatchObject({ state: {} });
    expect(JSON.stringify(await session.state())).not.toContain("grok_build.Todo");
    await write({ todos: [], merge: false });
    expect(JSON.stringify(await session.state())).toContain('"grok_build.Todo":{"todos":{}}');
  });

  it("is brought back to mind by calls of other tools", async () => {
    await write({ todos: [{ id: "1", content: "A" }] });
    const texts: string[] = [];
    for (let count = 0; count < 3; count += 1) texts.push(await prompt({ text: "x" }, "echo"));
    expect(texts.map((text) => text.includes("<system-reminder>"))).toEqual([false, false, true]);
    expect(texts[2]).toContain("todo_write");
  });
});

describe("OpenCode:todowrite", () => {
  it("writes the list that the other tool goes on with", async () => {
    await write({ todos: [{ content: "First", status: "pending", priority: "high" }] }, "todowrite");
    expect(
      await prompt({
        todos: [
          { id: "1", status: "completed" },
          { id: "2", content: "Second" },
        ],
      }),
    ).toBe("- [completed] 1: First\n- [pending] 2: Second\n");
  });

  it("tells what it understood otherwise, and that one task at a time is enough", async () => {
    const current = { content: "X", status: "in_progress", priority: "urgent" };
    const result = await write({ todos: [current, current] }, "todowrite");
    expect(result.ok && result.output).toMatchObject({
      TodosUpdated: {
        warnings: [
          expect.stringContaining("todos[0].priority"),
          expect.stringContaining("todos[1].priority"),
          expect.stringContaining("in_progress"),
        ],
      },
    });
  });

  it("refuses texts that are too long, and keeps the list", async () => {
    await write({ todos: [{ content: "A", status: "pending", priority: "low" }] }, "todowrite");
    const result = await write(
      { todos: [{ content: "x".repeat(2001), status: "pending", priority: "low" }] },
      "todowrite",
    );
    expect(!result.ok && result.error).toMatchObject({
      code: ErrorCode.INVALID_INPUT,
      details: { output: { InvalidArgument: expect.stringContaining("todos[0].content") } },
    });
    expect(await prompt({ todos: [] })).toContain("A");
  });
});
