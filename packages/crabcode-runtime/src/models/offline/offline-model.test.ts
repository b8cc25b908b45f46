import { describe, expect, it } from "vitest";
import type { Message } from "../../conversation/message.ts";
import type { ModelChunk, ModelRequest } from "../../ports/model-port.ts";
import { createOfflineModel } from "./offline-model.ts";

const allTools = ["Read", "Glob", "Grep", "Bash", "Write", "Edit", "AskUser", "AgentSpawn", "SwitchMode"];

describe("the offline model", () => {
  it.each([
    ["read a.txt", "Read", { file_path: "a.txt" }],
    ["READ my notes.txt ", "Read", { file_path: "my notes.txt" }],
    ["list", "Glob", { pattern: "*" }],
    ["list src/*.ts", "Glob", { pattern: "src/*.ts" }],
    ["search fo+ bar", "Grep", { pattern: "fo+ bar" }],
    ["search in x in *.ts", "Grep", { pattern: "in x", glob: "*.ts" }],
    ["run ls -l | wc", "Bash", { command: "ls -l | wc" }],
    ["write a/b.txt: one: two\nthree", "Write", { file_path: "a/b.txt", content: "one: two\nthree" }],
    ["write empty.txt:", "Write", { file_path: "empty.txt", content: "" }],
    [
      "replace a.txt: x = 1 => x = 2",
      "Edit",
      { file_path: "a.txt", old_string: "x = 1", new_string: "x = 2" },
    ],
    [
      "ask Which DB?: sqlite | postgres",
      "AskUser",
      { question: "Which DB?", options: ["sqlite", "postgres"] },
    ],
    ["delegate read a.txt", "AgentSpawn", { prompt: "read a.txt" }],
  ])("turns %j into a call of %s", async (text, name, input) => {
    const chunks = await step([user(text)]);
    expect(chunks.find(({ type }) => type === "tool-end")).toMatchObject({ name, input });
    expect(chunks.at(-1)).toEqual({ type: "finish", reason: "tool-calls" });
    expect(chunks.filter(({ type }) => type === "text")).toEqual([]);
  });

  it("hands in a plan whose steps follow each other, in plan mode only", async () => {
    const message = [user("plan Tidy up: sort files; delete tmp")];
    const call = (await step(message, ["SwitchMode", "Read"])).find(({ type }) => type === "tool-end");
    expect(call).toMatchObject({
      name: "SwitchMode",
      input: {
        target_mode: "agent",
        plan: { title: "Tidy up", steps: [{ id: "step-1" }, { id: "step-2", depends_on: ["step-1"] }] },
      },
    });
    expect(await answer(message)).toContain("only in plan mode");
  });

  it.each([
    ["read a.txt", "     1|hello", false, "hello"],
    ["read a.txt", "Error: file not found: a.txt", true, "Read failed: Error: file not found: a.txt"],
    ["list *.ts", "Found 3 files:\n/a.ts\n/b.ts\n/c.ts", false, "3 files match *.ts."],
    ["list *.ts", "No files matched the pattern.", false, "0 files match *.ts."],
    ["search x", "a.txt:1:x\na.txt:9:x", false, "2 lines match x."],
    ["run true", "(no output)", false, "exit code 0"],
    ["run false", "Exit code: 3", true, "exit code 3"],
    ["run x", "Permission denied: no", true, "did not finish: Permission denied"],
    ["write a: b", "Created /w/a (1 lines).", false, "Created /w/a"],
    ["ask Q: a | b", "User selected: b", false, "User selected: b"],
  ])("after %j and the result %j it says so", async (...row) => {
    const [text, content, isError, expected] = row;
    const said = await answer([
      user(text),
      { role: "assistant", content: [{ type: "tool_use", id: "c1", name: "T", input: {} }] },
      { role: "user", content: [{ type: "tool_result", tool_use_id: "c1", content, is_error: isError }] },
    ]);
    expect(said).toMatch(/^\[offline mode - no language model configured\]\n/);
    expect(said).toContain(expected);
  });

  it("shows 20 lines of a long file and counts the rest", async () => {
    const content = Array.from({ length: 25 }, (_, index) => `line ${index + 1}`).join("\n");
    const said = await answer([
      user("read long.txt"),
      { role: "user", content: [{ type: "tool_result", tool_use_id: "c1", content, is_error: false }] },
    ]);
    expect(said).toContain("line 20\n(5 more lines)");
    expect(said).not.toContain("line 21");
  });

  it.each(["what can you do?", "help", "write without a colon"])(
    "answers %j with the marker",
    async (text) => {
      expect(await answer([user(text)])).toMatch(/^\[offline mode - no language model configured\]\n/);
    },
  );

  it("names settings, variables, commands and the reason when it does not understand", async () => {
    const said = await answer([user("hello?")], allTools, "the environment variable MY_KEY is not set");
    for (const word of ["default_model", "ANTHROPIC_API_KEY", "OPENAI_API_KEY", "read <path>", "MY_KEY"]) {
      expect(said).toContain(word);
    }
  });

  it("lists only commands whose tools are offered", async () => {
    const said = await answer([user("help")], ["Read", "Bash"]);
    expect(said).toContain("run <command>");
    expect(said).not.toContain("delegate");
  });

  it("says when the tool of a command is not offered", async () => {
    expect(await answer([user("write a: b")], ["Read"])).toContain(
      "needs the tool Write, which is not offered",
    );
  });

  it("estimates usage and gives each call of a history its own id", async () => {
    const first = await step([user("read a")]);
    const second = await step([
      user("read a"),
      { role: "assistant", content: [{ type: "tool_use", id: "offline_1", name: "Read", input: {} }] },
      user("read a"),
    ]);
    expect(first.find(({ type }) => type === "tool-end")).toMatchObject({ id: "offline_1" });
    expect(second.find(({ type }) => type === "tool-end")).toMatchObject({ id: "offline_2" });
    const usage = first.find(({ type }) => type === "usage");
    expect(usage?.type === "usage" && usage.usage.inputTokens).toBeGreaterThan(0);
  });
});

async function answer(messages: readonly Message[], tools = allTools, reason?: string): Promise<string> {
  const chunks = await step(messages, tools, reason);
  return chunks.map((chunk) => (chunk.type === "text" ? chunk.text : "")).join("");
}

async function step(messages: readonly Message[], tools = allTools, reason?: string): Promise<ModelChunk[]> {
  const request: ModelRequest = {
    loop: { sessionId: "s1", agentNumber: null, profile: "offline" },
    system: [],
    messages,
    tools: tools.map((name) => ({ name, description: name, inputSchema: { type: "object" } })),
    maxOutputTokens: 1_000,
    signal: new AbortController().signal,
  };
  const chunks: ModelChunk[] = [];
  for await (const chunk of createOfflineModel(reason).stream(request)) chunks.push(chunk);
  return chunks;
}

function user(text: string): Message {
  return { role: "user", content: [{ type: "text", text }] };
}
