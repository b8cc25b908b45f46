import { mkdir, readdir, readFile, utimes, writeFile } from "node:fs/promises";
import { ErrorCode } from "@trivium/proto/grok-tools";
import { describe, expect, it } from "vitest";
import { z } from "zod";
import type { ToolAnswer } from "./execute/tool-answer.ts";
import { orderedObject } from "./ordered-json.ts";
import type { ResourceDefinition } from "./session-resource.ts";
import { count, echo, fail, unavailable, waitingTool } from "./testing/sample-tools.ts";
import { testRuntime } from "./testing/test-runtime.ts";
import { defineTool, type ToolProgress } from "./tool.ts";
import type { ToolSession } from "./tool-session.ts";

const tools = [echo, fail, count, unavailable];

async function openEcho(session: ToolSession): Promise<void> {
  await session.finalize({ tools: tools.map(({ id }) => ({ id })) });
}

function errorOf({ result }: ToolAnswer) {
  if (result.ok) throw new Error("the call succeeded");
  return result.error;
}

function valueOf({ result }: ToolAnswer) {
  if (!result.ok) throw result.error;
  return result;
}

describe("ToolSession.execute", () => {
  it("runs a tool with canonical input and answers with output and text", async () => {
    await using test = await testRuntime(tools);
    const session = test.runtime.sessions.session(undefined);
    await openEcho(session);
    const answer = await session.execute("echo", '{"text":"hé","times":"2"}', { callId: "c1" });
    expect(answer).toMatchObject({
      callId: "c1",
      result: { ok: true, promptText: "héhé" },
      metadata: { estimatedTokens: 1, isTruncated: false, toolVersion: "0.1.0", contractVersion: "current" },
    });
    expect(valueOf(answer).output).toEqual({
      type: "Text",
      text: "héhé",
      text_concise: "h",
      data: [104, 195, 169, 104, 195, 169],
      where: test.workspace,
    });
  });

  it("refuses to run before finalize, naming the missing step", async () => {
    await using test = await testRuntime(tools);
    const session = test.runtime.sessions.session("a");
    await expect(session.execute("echo", {})).rejects.toMatchObject({
      kind: "failedPrecondition",
      message: expect.stringContaining("FinalizeToolConfigRequest"),
    });
    await expect(session.state()).rejects.toMatchObject({ kind: "failedPrecondition" });
  });

  it.each([
    ["", "{}", ErrorCode.INVALID_TOOL_NAME, {}],
    ["has space", "{}", ErrorCode.INVALID_TOOL_NAME, {}],
    ["ecko", "{}", ErrorCode.TOOL_NOT_FOUND, {}],
    ["Sample:echo", "{}", ErrorCode.TOOL_NOT_FOUND, {}],
    ["echo", "{", ErrorCode.INVALID_INPUT, {}],
    ["echo", "[]", ErrorCode.INVALID_INPUT, {}],
    ["echo", " ", ErrorCode.MISSING_REQUIRED_FIELD, { field: "text" }],
    ["echo", '{"text":1}', ErrorCode.INVALID_INPUT, { field: "text" }],
    ["echo", '{"text":"a","times":1.5}', ErrorCode.INVALID_INPUT, { field: "times" }],
    ["echo", '{"text":"a","times":1001}', ErrorCode.INVALID_INPUT, { field: "times" }],
    ["echo", '{"text":"a","loud":2}', ErrorCode.INVALID_INPUT, { field: "loud" }],
    ["echo", '{"text":"a","items":[{}]}', ErrorCode.MISSING_REQUIRED_FIELD, { field: "items[0].id" }],
    [
      "unavailable",
      "{",
      ErrorCode.NOT_IMPLEMENTED,
      { kind: "not_implemented", unavailable: "web_search_provider" },
    ],
    ["fail", '{"how":"bug"}', ErrorCode.INTERNAL, {}],
  ])("answers %s %s with %i", async (...[name, input, code, details]) => {
    await using test = await testRuntime(tools);
    const session = test.runtime.sessions.session(undefined);
    await openEcho(session);
    const error = errorOf(await session.execute(name, input));
    expect(error.code).toBe(code);
    expect(error.details).toMatchObject(details);
    expect(error.message).not.toContain("/home/someone");
  });

  it("answers a logical failure as an error with the whole output, or as an output on request", async () => {
    await using test = await testRuntime(tools);
    const session = test.runtime.sessions.session(undefined);
    await openEcho(session);
    expect(errorOf(await session.execute("fail", {}))).toMatchObject({
      code: ErrorCode.FILE_NOT_FOUND,
      message: "there is no such file",
      filePath: "/w/a",
      suggestion: "Look elsewhere.",
      details: { kind: "logical", output: { type: "ReadFile", FileNotFound: "there is no such file" } },
    });
    expect(valueOf(await session.execute("fail", {}, { logicalErrors: "output" }))).toMatchObject({
      output: { type: "ReadFile", FileNotFound: "there is no such file" },
      promptText: "there is no such file",
    });
  });

  it("shapes byte buffers, concise texts and fields as the caller asks", async () => {
    await using test = await testRuntime(tools);
    const session = test.runtime.sessions.session(undefined);
    await openEcho(session);
    const outputOf = async (options: object) =>
      valueOf(await session.execute("echo", { text: "ab" }, options));
    expect((await outputOf({ byteBuffers: "text" })).output["data"]).toBe("ab");
    expect(await outputOf({ outputFormat: "concise", byteBuffers: "text" })).toMatchObject({
      promptText: "a",
      output: { type: "Text", text: "a", where: test.workspace },
    });
    expect(Object.keys((await outputOf({ outputFormat: "concise" })).output)).toEqual([
      "type",
      "text",
      "where",
    ]);
    expect((await outputOf({ includeFields: ["text", "x"], excludeFields: ["type"] })).output).toEqual({
      type: "Text",
      text: "ab",
    });
    const lossy = errorOf(await session.execute("fail", { how: "bytes" }, { byteBuffers: "text" }));
    expect(lossy.details["output"]).toMatchObject({ FileNotFound: { stdout: "\uFFFD", stdout_lossy: true } });
  });

  it("works in the folder of the call, which must exist", async () => {
    await using test = await testRuntime(tools);
    const session = test.runtime.sessions.session(undefined);
    await openEcho(session);
    await mkdir(`${test.workspace}/sub`);
    const answer = await session.execute("echo", { text: "a" }, { workingDirectory: "sub" });
    expect(valueOf(answer).output["where"]).toBe(`${test.workspace}/sub`);
    const missing = await session.execute("echo", { text: "a" }, { workingDirectory: "none" });
    expect(errorOf(missing).code).toBe(ErrorCode.INVALID_INPUT);
  });

  it("keeps calls inside the workspace roots", async () => {
    await using test = await testRuntime(tools, { settings: { workspaceRoots: [] } });
    const session = test.runtime.sessions.session(undefined);
    await openEcho(session);
    const outside = await session.execute("echo", { text: "a" }, { workingDirectory: ".." });
    expect(errorOf(outside)).toMatchObject({
      code: ErrorCode.PERMISSION_DENIED,
      details: { reason: "outside_roots" },
    });
    await expect(
      test.runtime.sessions.session("b").finalize({ tools: [] }, { cwd: ".." }),
    ).rejects.toMatchObject({
      kind: "invalidInput",
    });
  });

  it("takes both spellings of a renamed parameter, one at a time, and names it as the caller does", async () => {
    await using test = await testRuntime(tools);
    const session = test.runtime.sessions.session(undefined);
    const paramsNameOverrides = { text: "times", times: "text" };
    const report = await session.finalize({
      tools: [{ id: "Sample:echo", nameOverride: "say", paramsNameOverrides }],
    });
    expect(report.tools[0]?.inputSchema["required"]).toEqual(["times"]);
    expect(valueOf(await session.execute("say", { times: "x", text: 3 })).promptText).toBe("xxx");
    expect(errorOf(await session.execute("say", {})).details["field"]).toBe("times");
    expect(errorOf(await session.execute("echo", {})).suggestion).toContain("say");
  });

  it("renames what stands at the top and nothing below", async () => {
    await using test = await testRuntime(tools);
    const session = test.runtime.sessions.session(undefined);
    const paramsNameOverrides = { note: "id", items: "text", text: "items" };
    const report = await session.finalize({ tools: [{ id: "Sample:echo", paramsNameOverrides }] });
    expect(report.tools[0]?.inputSchema).toMatchObject({
      required: ["items"],
      properties: { id: {}, items: {}, text: { items: { properties: { id: {} }, required: ["id"] } } },
    });
    const input = { items: "x", id: "a note", text: [{ id: "1" }] };
    expect(valueOf(await session.execute("echo", input)).promptText).toBe("x");
  });

  it("refuses one parameter in two spellings", async () => {
    await using test = await testRuntime(tools);
    const session = test.runtime.sessions.session(undefined);
    await session.finalize({ tools: [{ id: "Sample:echo", paramsNameOverrides: { text: "words" } }] });
    expect(valueOf(await session.execute("echo", { text: "a" })).promptText).toBe("a");
    const error = errorOf(await session.execute("echo", { text: "a", words: "b" }));
    expect(error).toMatchObject({
      code: ErrorCode.INVALID_INPUT,
      message: expect.stringMatching(/words.*text/),
    });
  });

  it("cuts a text that is far longer than its tool's cap", async () => {
    await using test = await testRuntime(tools);
    const session = test.runtime.sessions.session(undefined);
    await session.finalize({
      tools: [{ id: "Sample:echo" }],
      truncation: { perToolMaxOutputBytes: { echo: 1000 } },
    });
    const answer = await session.execute("echo", { text: "é".repeat(10), times: 201 });
    expect(answer.metadata.isTruncated).toBe(true);
    expect(valueOf(answer).promptText).toMatch(/é{1000}\n\n\[Output truncated - 4020 bytes total/);
    expect(
      valueOf(await session.execute("echo", { text: "é".repeat(10), times: 200 })).promptText,
    ).toHaveLength(2000);
  });

  it("delivers reminders after successful calls only when they are enabled", async () => {
    await using test = await testRuntime(tools);
    const session = test.runtime.sessions.session(undefined);
    await session.finalize({ tools: tools.map(({ id }) => ({ id })), systemRemindersEnabled: true });
    for (const expected of ["1", "2", "3\n\n<system-reminder>\ncounted to three\n</system-reminder>"]) {
      expect(valueOf(await session.execute("count", {})).promptText).toBe(expected);
    }
    await using other = test.runtime.sessions.session("other");
    await openEcho(other);
    for (const expected of ["1", "2", "3"]) {
      expect(valueOf(await other.execute("count", {})).promptText).toBe(expected);
    }
  });

  it("tells a reminder once, in the text alone, and none beside a concise tool", async () => {
    const concise = defineTool({
      id: "GrokBuildConcise:look",
      kind: "read",
      capabilities: { readOnly: true },
      description: "Looks.",
      input: z.object({}),
      output: { schema: z.object({ type: z.literal("Text") }), fields: [] },
      run: () => Promise.resolve({ output: { type: "Text" }, promptText: "" }),
    });
    await using test = await testRuntime([...tools, concise]);
    const counts = async (session: ToolSession, more: string[]) => {
      const ids = ["Sample:echo", "Sample:count", ...more];
      await session.finalize({ tools: ids.map((id) => ({ id })), systemRemindersEnabled: true });
      const answers = [];
      for (let call = 0; call < 4; call++) answers.push(valueOf(await session.execute("count", {})));
      return answers;
    };
    const told = await counts(test.runtime.sessions.session("a"), []);
    expect(told.map(({ promptText }) => promptText.includes("counted to three"))).toEqual([
      false,
      false,
      true,
      false,
    ]);
    expect(told.map(({ output }) => output)).toEqual([1, 2, 3, 4].map((count) => ({ type: "Text", count })));
    const silent = await counts(test.runtime.sessions.session("b"), ["GrokBuildConcise:look"]);
    expect(silent.map(({ promptText }) => promptText)).toEqual(["1", "2", "3", "4"]);
  });

  it.each([
    [{ timeoutMs: 0 }, "timeout_ms"],
    [{ timeoutMs: 36_000_001 }, "timeout_ms"],
    [{ callId: "x".repeat(257) }, "call_id"],
    [{ idempotencyKey: "a b" }, "idempotency-key"],
  ])("refuses the options %j", async (options, name) => {
    await using test = await testRuntime(tools);
    const session = test.runtime.sessions.session(undefined);
    await openEcho(session);
    await expect(session.execute("echo", { text: "a" }, options)).rejects.toMatchObject({
      kind: "invalidInput",
      message: expect.stringContaining(name),
    });
  });
});

function waiting() {
  const started = Promise.withResolvers<void>();
  const ended = Promise.withResolvers<unknown>();
  const tool = waitingTool({ started: () => started.resolve(), ended: (reason) => ended.resolve(reason) });
  return { tool, started: started.promise, ended: ended.promise };
}

describe("a running call", () => {
  it("ends with the caller's reason when the caller cancels, and the tool hears of it", async () => {
    const { tool, started, ended } = waiting();
    await using test = await testRuntime([tool]);
    const session = await test.runtime.openSession({ id: "s", tools: ["Sample:wait"] });
    const controller = new AbortController();
    const call = session.execute("wait", {}, { signal: controller.signal });
    await started;
    const reason = new Error("no longer needed");
    controller.abort(reason);
    await expect(call).rejects.toBe(reason);
    expect(await ended).toBe(reason);
    expect(session.isBusy).toBe(false);
  });

  it("is answered TIMEOUT one second after a time-out that the tool should apply itself", async () => {
    const { tool, started } = waiting();
    await using test = await testRuntime([tool]);
    const session = await test.runtime.openSession({ id: "s", tools: ["Sample:wait"] });
    const progress: number[] = [];
    const onProgress = ({ offset }: { offset: number }) => void progress.push(offset);
    const call = session.execute("wait", {}, { timeoutMs: 5000, onProgress });
    await started;
    await test.clock.advance(5999);
    expect(session.isBusy).toBe(true);
    await test.clock.advance(1);
    expect(errorOf(await call)).toMatchObject({ code: ErrorCode.TIMEOUT, retryable: true });
    expect(progress).toEqual([0]);
  });

  it("is answered TIMEOUT at the time-out when the input has one of its own", async () => {
    const { tool, started } = waiting();
    await using test = await testRuntime([tool]);
    const session = await test.runtime.openSession({ id: "s", tools: ["Sample:wait"] });
    const call = session.execute("wait", { timeout: 90_000 }, { timeoutMs: 5000 });
    await started;
    await test.clock.advance(5000);
    expect(errorOf(await call).code).toBe(ErrorCode.TIMEOUT);
  });

  it("is answered TIMEOUT also when the tool gives a result after its signal aborted", async () => {
    const started = Promise.withResolvers<void>();
    const tool = defineTool({
      ...minimalTool,
      async run(_input, { signal }) {
        started.resolve();
        await new Promise((resolve) => signal.addEventListener("abort", resolve, { once: true }));
        return { output: { type: "Text" }, promptText: "late" };
      },
    });
    await using test = await testRuntime([tool]);
    const session = await test.runtime.openSession({ id: "s", tools: [tool.id] });
    const call = session.execute("minimal", {}, { timeoutMs: 100 });
    await started.promise;
    await test.clock.advance(100);
    expect(errorOf(await call)).toMatchObject({ code: ErrorCode.TIMEOUT });
  });

  it("is answered without the tool when that does not end, and keeps its place until it does", async () => {
    const started = Promise.withResolvers<void>();
    const end = Promise.withResolvers<void>();
    const tool = defineTool({
      ...minimalTool,
      async run() {
        started.resolve();
        await end.promise;
        return { output: { type: "Text" }, promptText: "late" };
      },
    });
    await using test = await testRuntime([tool]);
    const session = await test.runtime.openSession({ id: "s", tools: [tool.id] });
    const call = session.execute("minimal", {}, { timeoutMs: 100 });
    await started.promise;
    await test.clock.advance(999);
    let hasState = false;
    expect(await Promise.race([call, Promise.resolve("waits")])).toBe("waits");
    await test.clock.advance(1);
    expect(errorOf(await call).code).toBe(ErrorCode.TIMEOUT);
    const state = session.state().then(() => {
      hasState = true;
    });
    await test.clock.advance(1000);
    expect(hasState).toBe(false);
    end.resolve();
    await state;
  });

  it("is answered CANCELLED when its session closes", async () => {
    const { tool, started } = waiting();
    await using test = await testRuntime([tool]);
    const session = await test.runtime.openSession({ id: "s", tools: ["Sample:wait"] });
    const call = session.execute("wait", {});
    await started;
    await session.close();
    expect(errorOf(await call)).toMatchObject({ code: ErrorCode.CANCELLED });
    await expect(session.execute("wait", {})).rejects.toMatchObject({ kind: "unavailable" });
    expect(session.status).toBe("closed");
  });

  it("reports progress only while its tool runs, and is not disturbed by its listener", async () => {
    const reports: ((chunk: ToolProgress) => void)[] = [];
    const chunk = { bytes: new Uint8Array(1), offset: 0 };
    const tool = defineTool({
      ...minimalTool,
      run(_input, { progress }) {
        progress(chunk);
        progress(chunk);
        reports.push(progress);
        return Promise.resolve({ output: { type: "Text" }, promptText: "" });
      },
    });
    await using test = await testRuntime([tool]);
    const session = await test.runtime.openSession({ id: "s", tools: [tool.id] });
    const seen: ToolProgress[] = [];
    const onProgress = (progress: ToolProgress): void => void seen.push(progress);
    valueOf(await session.execute("minimal", {}, { onProgress }));
    reports[0]?.(chunk);
    expect(seen).toHaveLength(2);
    let count = 0;
    const failing = (): never => {
      count++;
      throw new Error("listener");
    };
    valueOf(await session.execute("minimal", {}, { onProgress: failing }));
    expect(count).toBe(1);
  });

  it("blocks a second one with its id", async () => {
    const { tool, started } = waiting();
    await using test = await testRuntime([tool]);
    const session = await test.runtime.openSession({ id: "s", tools: ["Sample:wait"] });
    const call = session.execute("wait", {}, { callId: "c" });
    await started;
    await expect(session.execute("wait", {}, { callId: "c" })).rejects.toMatchObject({
      kind: "alreadyExists",
    });
    await session.close();
    expect(errorOf(await call).code).toBe(ErrorCode.CANCELLED);
  });

  it("holds back a snapshot of the state for at most 30 seconds", async () => {
    const { tool, started } = waiting();
    await using test = await testRuntime([tool]);
    const session = await test.runtime.openSession({ id: "s", tools: ["Sample:wait"] });
    const call = session.execute("wait", {});
    await started;
    const state = session.state();
    const refused = expect(state).rejects.toMatchObject({ kind: "deadlineExceeded" });
    await test.clock.advance(30_000);
    await refused;
    await session.close();
    await call;
  });

  it("goes to the background when the caller asks and the input does not say", async () => {
    await using test = await testRuntime([waiting().tool]);
    const session = await test.runtime.openSession({ id: "s", tools: ["Sample:wait"] });
    expect(valueOf(await session.execute("wait", {}, { background: true })).promptText).toBe("background");
  });
});

describe("a call with an idempotency key", () => {
  it("runs once and is answered the same again, also by a later runtime", async () => {
    await using test = await testRuntime(tools);
    const options = { idempotencyKey: "k1" };
    const session = await test.runtime.openSession({ id: "s", tools: tools.map(({ id }) => id) });
    const first = await session.execute("count", "{}", options);
    expect(await session.execute("count", {}, options)).toEqual(first);
    expect(await session.execute("fail", {}, { idempotencyKey: "k2" })).toMatchObject({
      result: { ok: false },
    });
    await session.close();
    const again = await test.runtime.openSession({ id: "s", tools: tools.map(({ id }) => id) });
    expect(await again.execute("count", "{ }", options)).toEqual(first);
    const failed = errorOf(await again.execute("fail", {}, { idempotencyKey: "k2" }));
    expect(failed).toMatchObject({
      code: ErrorCode.FILE_NOT_FOUND,
      filePath: "/w/a",
      details: { kind: "logical" },
    });
    expect(valueOf(await again.execute("count", {})).promptText).toBe("2");
  });

  it("is answered again with every key in its place, also those that look like numbers", async () => {
    const numbered = defineTool({
      id: "Sample:numbered",
      kind: "read",
      capabilities: { readOnly: true },
      description: "Numbers.",
      input: z.object({}),
      output: { schema: z.object({ type: z.literal("Text") }), fields: [] },
      run() {
        const byId = orderedObject([
          ["10", "first"],
          ["2", "second"],
        ]);
        return Promise.resolve({ output: { type: "Text", byId }, promptText: "" });
      },
    });
    await using test = await testRuntime([numbered]);
    const run = async (): Promise<string> => {
      await using session = await test.runtime.openSession({ id: "s", tools: ["Sample:numbered"] });
      const answer = await session.execute("numbered", {}, { idempotencyKey: "k" });
      return JSON.stringify(valueOf(answer).output);
    };
    expect(await run()).toBe('{"type":"Text","byId":{"10":"first","2":"second"}}');
    expect(await run()).toBe('{"type":"Text","byId":{"10":"first","2":"second"}}');
  });

  it("is forgotten after a day", async () => {
    await using test = await testRuntime(tools);
    const session = await test.runtime.openSession({ id: "s", tools: ["Sample:count", "Sample:echo"] });
    const run = async (key: string) =>
      valueOf(await session.execute("count", {}, { idempotencyKey: key })).promptText;
    expect([await run("a"), await run("b"), await run("a")]).toEqual(["1", "2", "1"]);
    const folder = `${test.workspace}/data/tools/sessions/s/calls`;
    const before = new Date(test.clock.now() - 25 * 3_600_000);
    for (const name of await readdir(folder)) await utimes(`${folder}/${name}`, before, before);
    expect(await run("a")).toBe("3");
    await test.clock.advance(3_600_001);
    await run("c");
    expect(await readdir(folder)).toHaveLength(2);
  });

  it("is recorded before its tool starts", async () => {
    const { tool, started } = waiting();
    await using test = await testRuntime([tool]);
    const session = await test.runtime.openSession({ id: "s", tools: ["Sample:wait"] });
    const call = session.execute("wait", {}, { idempotencyKey: "k", callId: "c" });
    await started;
    const folder = `${test.workspace}/data/tools/sessions/s/calls`;
    const [name] = await readdir(folder);
    expect(JSON.parse(await readFile(`${folder}/${name}`, "utf8"))).toEqual({
      callId: "c",
      fingerprint: expect.any(String),
    });
    await session.close();
    await call;
  });

  it("is recognised by the value of its input, not by its text", async () => {
    await using test = await testRuntime(tools);
    const session = await test.runtime.openSession({ id: "s", tools: ["Sample:echo"] });
    const first = await session.execute("echo", '{"text":"a","loud":true}', { idempotencyKey: "k" });
    expect(await session.execute("echo", '{ "loud": true, "text": "a" }', { idempotencyKey: "k" })).toEqual(
      first,
    );
  });

  it("leaves no record when it is refused with a status", async () => {
    const { tool, started } = waiting();
    await using test = await testRuntime([tool, ...tools]);
    const session = await test.runtime.openSession({ id: "s", tools: ["Sample:wait", "Sample:echo"] });
    const running = session.execute("wait", {}, { callId: "c" });
    await started;
    const options = { idempotencyKey: "k", callId: "c" };
    await expect(session.execute("echo", { text: "a" }, options)).rejects.toMatchObject({
      kind: "alreadyExists",
    });
    expect(await session.execute("echo", { text: "b" }, { idempotencyKey: "k" })).toMatchObject({
      result: { ok: true },
    });
    await session.close();
    await running;
  });

  it("is refused with other contents", async () => {
    await using test = await testRuntime(tools);
    const session = await test.runtime.openSession({ id: "s", tools: ["Sample:echo"] });
    await session.execute("echo", { text: "a" }, { idempotencyKey: "k" });
    const other = session.execute("echo", { text: "b" }, { idempotencyKey: "k" });
    await expect(other).rejects.toMatchObject({ kind: "invalidInput" });
  });

  it("joins the running one and is cancelled with its last caller", async () => {
    const { tool, started, ended } = waiting();
    await using test = await testRuntime([tool]);
    const session = await test.runtime.openSession({ id: "s", tools: ["Sample:wait"] });
    const [first, second] = [new AbortController(), new AbortController()];
    const call = (signal: AbortSignal) => session.execute("wait", {}, { idempotencyKey: "k", signal });
    const calls = [call(first.signal), call(second.signal)] as const;
    await started;
    first.abort(new Error("first"));
    await expect(calls[0]).rejects.toThrow("first");
    expect(session.isBusy).toBe(true);
    second.abort(new Error("second"));
    await expect(calls[1]).rejects.toThrow("second");
    await ended;
    const repeated = errorOf(await session.execute("wait", {}, { idempotencyKey: "k" }));
    expect(repeated).toMatchObject({ code: ErrorCode.CANCELLED });
  });

  it("is not run again when the server died while it ran", async () => {
    await using test = await testRuntime(tools);
    const session = await test.runtime.openSession({ id: "s", tools: ["Sample:count", "Sample:echo"] });
    await session.execute("count", {}, { idempotencyKey: "k", callId: "c" });
    const [name] = await readdir(`${test.workspace}/data/tools/sessions/s/calls`);
    const path = `${test.workspace}/data/tools/sessions/s/calls/${name}`;
    const { answer, ...begun } = JSON.parse(await readFile(path, "utf8"));
    expect(answer).toBeDefined();
    await writeFile(path, JSON.stringify(begun));
    const lost = await session.execute("count", {}, { idempotencyKey: "k" });
    expect(lost.callId).toBe("c");
    expect(errorOf(lost)).toMatchObject({
      code: ErrorCode.CANCELLED,
      details: { reason: "server_restarted" },
    });
  });
});

describe("the state of a session", () => {
  const config = { tools: ["Sample:echo", "Sample:count"] };

  it("survives a round trip through initial_tool_state_json", async () => {
    await using test = await testRuntime(tools);
    const first = await test.runtime.openSession({ id: "a", ...config });
    await first.execute("count", {});
    const state = await first.state();
    expect(state).toEqual({
      params: { "sample.Echo": { prefix: "", mode: "a" } },
      state: { "sample.Counter": 1 },
    });
    const initialToolStateJson = JSON.stringify({
      ...state,
      state: { "sample.Counter": 1, "other.Key": [1] },
    });
    const second = await test.runtime.openSession({ id: "b", ...config, initialToolStateJson });
    expect(await second.state()).toEqual({ ...state, state: { "other.Key": [1], "sample.Counter": 1 } });
  });

  it("survives the session in its file, which only the user can read", async () => {
    await using test = await testRuntime(tools);
    const first = await test.runtime.openSession({ id: "a/b", ...config });
    await first.execute("count", {});
    await first.close();
    const second = await test.runtime.openSession({ id: "a/b", ...config });
    expect(valueOf(await second.execute("count", {})).promptText).toBe("2");
  });

  it("is set aside when its file is malformed", async () => {
    await using test = await testRuntime(tools);
    const folder = `${test.workspace}/data/tools/sessions/a`;
    await mkdir(folder, { recursive: true });
    await writeFile(`${folder}/resources_state.json`, "{");
    const report = await test.runtime.sessions.session("a").finalize({ tools: [] });
    expect(report.warnings).toEqual(["state_corrupt"]);
    expect((await readdir(folder)).filter((name) => name.includes(".corrupt-"))).toHaveLength(1);
  });

  it("lets params of the request win over initial ones, key by key", async () => {
    await using test = await testRuntime(tools);
    const session = test.runtime.sessions.session("a");
    await session.finalize({
      tools: [{ id: "Sample:echo", paramsJson: '{"prefix":"x"}' }],
      initialToolStateJson: '{"params":{"sample.Echo":{"prefix":"y","mode":"b"}}}',
    });
    expect(await session.state()).toMatchObject({ params: { "sample.Echo": { prefix: "x", mode: "b" } } });
  });

  it("keeps the current value of what cannot be decoded and says so", async () => {
    await using test = await testRuntime(tools);
    const session = test.runtime.sessions.session("a");
    const report = await session.finalize({
      tools: [{ id: "Sample:echo" }, { id: "Sample:count" }],
      initialToolStateJson: '{"params":{"sample.Echo":{"mode":"z"}},"state":{"sample.Counter":"x"}}',
    });
    expect(report.warnings).toEqual([
      "initial_state_skipped:sample.Counter",
      "initial_state_skipped:sample.Echo",
    ]);
    expect(await session.state()).toEqual({
      params: { "sample.Echo": { prefix: "", mode: "a" } },
      state: { "sample.Counter": 0 },
    });
  });

  it("makes no resources for a call that outlives the session", async () => {
    const started = Promise.withResolvers<void>();
    const end = Promise.withResolvers<void>();
    const outcome = Promise.withResolvers<unknown>();
    const late: ResourceDefinition<object> = { name: "late", create: () => ({}) };
    const tool = defineTool({
      ...minimalTool,
      async run(_input, context) {
        started.resolve();
        await end.promise;
        try {
          outcome.resolve(context.resource(late));
        } catch (thrown) {
          outcome.resolve(thrown);
        }
        return { output: { type: "Text" }, promptText: "" };
      },
    });
    await using test = await testRuntime([tool]);
    const session = await test.runtime.openSession({ id: "a", tools: [tool.id] });
    const call = session.execute("minimal", {});
    await started.promise;
    const closing = session.close();
    await test.clock.advance(1500);
    await Promise.all([closing, call]);
    end.resolve();
    expect(await outcome.promise).toMatchObject({ kind: "unavailable" });
  });

  it("ends its resources with the session, the last made first, and saves them after that", async () => {
    const ended: string[] = [];
    const resource = (name: string): ResourceDefinition<string[]> => ({
      name,
      create: () => [],
      dispose: () => void ended.push(name),
      state: { key: name, load: () => true, save: () => [...ended] },
    });
    const [first, second] = [resource("first"), resource("second")];
    const tool = defineTool({ ...minimalTool, resources: [first, second] });
    await using test = await testRuntime([tool]);
    const session = await test.runtime.openSession({ id: "a", tools: [tool.id] });
    await Promise.all([session.close(), session.close()]);
    expect(ended).toEqual(["second", "first"]);
    const saved = await readFile(`${test.workspace}/data/tools/sessions/a/resources_state.json`, "utf8");
    expect(JSON.parse(saved)).toMatchObject({ state: { first: ["second", "first"] } });
  });
});

const minimalTool = {
  id: "Sample:minimal",
  kind: "other",
  capabilities: { readOnly: true },
  description: "Does nothing.",
  input: z.object({}),
  output: { schema: z.object({ type: z.literal("Text") }), fields: [] },
  run: () => Promise.resolve({ output: { type: "Text" }, promptText: "" }),
} as const;
