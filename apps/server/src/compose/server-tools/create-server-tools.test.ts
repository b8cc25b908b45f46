import type { ServerToolsRequest } from "@trivium/code-mode-host";
import type { ServerTools } from "@trivium/code-mode-runtime";
import { TriviumError } from "@trivium/core";
import { temporaryFolder } from "@trivium/core/testing";
import {
  createGrokToolsRuntime,
  createToolRegistry,
  defineTool,
  type SubagentOutcome,
  type Tool,
  ToolError,
  type ToolSession,
} from "@trivium/grok-tools-runtime";
import { ErrorCode } from "@trivium/proto/grok-tools";
import { describe, expect, it } from "vitest";
import { z } from "zod";
import { createServerTools } from "./create-server-tools.ts";

const { signal } = new AbortController();
const notUsed = (): never => {
  throw new Error("no tool of this test runs programs");
};

const outputs: Readonly<Record<string, unknown>> = {
  plain: "half \ud800",
  large: "x".repeat(16 * 1024 * 1024),
  deep: JSON.parse("[".repeat(126) + "]".repeat(126)),
};

const give: Tool = defineTool({
  id: "Sample:give",
  kind: "read",
  capabilities: { readOnly: true },
  description: "Gives what is asked for.",
  input: z.object({ kind: z.string() }),
  output: { schema: z.object({ type: z.literal("Text"), value: z.unknown() }), fields: [] },
  run({ kind }) {
    if (kind in outputs) {
      const output = { type: "Text", value: outputs[kind] as string };
      return Promise.resolve({ output, promptText: "given" });
    }
    const suggestion = kind === "lost" ? "Look elsewhere." : undefined;
    return Promise.reject(new ToolError(ErrorCode.FILE_NOT_FOUND, `no ${kind}`, { suggestion }));
  },
});

const change: Tool = defineTool({
  id: "Sample:change",
  kind: "edit",
  capabilities: { readOnly: false },
  description: "Changes something.",
  input: z.object({}),
  output: { schema: z.object({ type: z.literal("Text") }), fields: [] },
  run: () => Promise.resolve({ output: { type: "Text" }, promptText: "changed" }),
});

const delegate: Tool = defineTool({
  id: "Sample:delegate",
  kind: "other",
  capabilities: { readOnly: true },
  description: "Has a child give something.",
  input: z.object({}),
  output: { schema: z.object({ type: z.literal("Text") }), fields: [] },
  async run(_input, { subagents }) {
    await subagents.start({ prompt: "p", description: "d", owner: "foreground" }, signal);
    return { output: { type: "Text" }, promptText: "begun" };
  },
});

interface Harness extends AsyncDisposable {
  /** Ids under which the conversation was asked whether a call is permitted. */
  readonly asked: string[];
  /** Settles when the child of `delegate` has made its call. */
  readonly childCalled: Promise<void>;
  readonly session: ToolSession;
  readonly open: (request?: Partial<ServerToolsRequest>) => Promise<ServerTools>;
}

async function harness(): Promise<Harness> {
  await using stack = new AsyncDisposableStack();
  const folder = stack.use(await temporaryFolder());
  const dataDir = `${folder.path}/data`;
  const asked: string[] = [];
  const childCalled = Promise.withResolvers<void>();
  const runtime = stack.use(
    createGrokToolsRuntime({
      registry: createToolRegistry([give, change, delegate]),
      workspace: folder.path,
      dataDir,
      commandRunner: {
        start: notUsed,
        containment: notUsed,
        stats: notUsed,
        [Symbol.asyncDispose]: notUsed,
      },
      programRunner: { run: notUsed },
      subagentRunner: {
        async run({ session: parent, authorise }) {
          await parent.execute("give", '{"kind":"plain"}', { callId: "own", authorise });
          childCalled.resolve();
          return ended;
        },
      },
    }),
  );
  const session = await runtime.openSession({
    id: "shared",
    tools: ["Sample:give", "Sample:change", "Sample:delegate"],
  });
  const port = createServerTools({
    runtime,
    dataDir,
    isDefault: false,
    rules: { deny: [{ tool: "change" }], ask: [], allow: [] },
    openGate: (sessionId) =>
      sessionId === "people"
        ? Promise.resolve({
            sessionId,
            permit({ toolUseId }) {
              asked.push(toolUseId);
              return Promise.resolve(undefined);
            },
            choose: notUsed,
          })
        : Promise.reject(new TriviumError("notFound", "no session has that id")),
  });
  const owned = stack.move();
  const usual = { isReadOnly: false, toolSession: "shared", permissionSession: undefined };
  return {
    session,
    asked,
    childCalled: childCalled.promise,
    open: (request = {}) => port.open({ ...usual, ...request }),
    [Symbol.asyncDispose]: () => owned.disposeAsync(),
  };
}

const ended: SubagentOutcome = {
  isCancelled: false,
  isSuccess: true,
  output: "",
  error: undefined,
  toolCalls: 1,
  turns: 1,
  durationMs: 0,
  totalTokens: undefined,
};

async function call(tools: ServerTools, kind: string): Promise<unknown> {
  return await tools.call({
    callId: "s/1/tool-1",
    name: "give",
    inputJson: JSON.stringify({ kind }),
    signal,
  });
}

describe("the tools of a server", () => {
  it("are offered under their namespace, with what their results look like", async () => {
    await using test = await harness();
    const tools = await test.open();
    expect(tools.definitions()).toMatchObject([
      {
        name: "grok__give",
        toolName: "give",
        namespace: "grok",
        description: "Gives what is asked for.",
        kind: "function",
        inputSchemaJson: expect.stringContaining('"kind"'),
        outputSchemaJson: expect.stringContaining('"output"'),
      },
      { name: "grok__change" },
      { name: "grok__delegate" },
    ]);
    expect((await test.open({ isReadOnly: true })).definitions()).toHaveLength(2);
  });

  it("give their text and their output, without halves of characters", async () => {
    await using test = await harness();
    const outputJson = JSON.stringify({ text: "given", output: { type: "Text", value: "half \ufffd" } });
    expect(await call(await test.open(), "plain")).toEqual({ type: "succeeded", outputJson });
  });

  it.each([
    ["lost", "ERROR_CODE_FILE_NOT_FOUND: no lost (Look elsewhere.)"],
    ["found", "ERROR_CODE_FILE_NOT_FOUND: no found"],
    ["large", expect.stringMatching(/^ERROR_CODE_EXECUTION_FAILED: .*give takes \d+ bytes; .* 16777216/)],
    ["deep", expect.stringMatching(/^ERROR_CODE_EXECUTION_FAILED: .*nested/)],
  ])("tell a failure of %s by its code and a text", async (kind, message) => {
    await using test = await harness();
    expect(await call(await test.open(), kind)).toEqual({ type: "failed", message });
  });

  it.each(["[]", "null", '"a"', "1"])("take no argument but an object: not %s", async (inputJson) => {
    await using test = await harness();
    const result = await (await test.open()).call({ callId: "c", name: "give", inputJson, signal });
    expect(result).toMatchObject({
      type: "failed",
      message: expect.stringMatching(/^ERROR_CODE_INVALID_INPUT: .*give/),
    });
  });

  it("deny what a rule denies, before it runs", async () => {
    await using test = await harness();
    const result = await (await test.open()).call({ callId: "c", name: "change", inputJson: "{}", signal });
    expect(result).toMatchObject({
      type: "failed",
      message: expect.stringMatching(/^Permission denied: .*change/),
    });
  });

  it("are asked about under the call of the program, also those that its children make", async () => {
    await using test = await harness();
    const tools = await test.open({ permissionSession: "people" });
    await tools.call({ callId: "s/1/tool-1", name: "delegate", inputJson: "{}", signal });
    await test.childCalled;
    expect(test.asked).toEqual(["s/1/tool-1", "s/1/tool-1/own"]);
  });

  it("leave a session of others open, and keep their names when it is closed", async () => {
    await using test = await harness();
    const tools = await test.open();
    await tools[Symbol.asyncDispose]();
    expect(test.session.status).toBe("finalized");
    await test.session.close();
    expect(tools.definitions()).toHaveLength(3);
    await expect(call(tools, "plain")).rejects.toMatchObject({ kind: "unavailable" });
  });

  it.each([
    ["a tool session without tools", { toolSession: "open" }, "failedPrecondition"],
    ["a conversation that is to be asked and not there", { permissionSession: "s" }, "notFound"],
  ])("are refused for %s", async (_, request, kind) => {
    await using test = await harness();
    await expect(test.open(request)).rejects.toMatchObject({ kind });
  });
});
