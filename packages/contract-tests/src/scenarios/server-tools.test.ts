import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { Code, createClient, type Transport } from "@connectrpc/connect";
import { CodeModeSession, type OpenSessionOptions } from "@trivium/code-mode-client";
import { openToolSession } from "@trivium/grok-tools-client";
import { CodeModeHost } from "@trivium/proto/code-mode";
import { CrabCodeService } from "@trivium/proto/crabcode";
import { expect } from "vitest";
import { readAll, statusOf } from "../take.ts";
import { useServer, verifies } from "../verifies.ts";

const rules = {
  deny: [{ tool: "*", path: "*secret*" }],
  ask: [{ tool: "run_terminal_cmd", command: "uname*" }],
};
useServer({ parameters: ["--set", `codeMode.serverToolRules=${JSON.stringify(rules)}`] });

/** The texts of one program in a session of its own. */
async function textsOf(transport: Transport, source: string, options: OpenSessionOptions = {}) {
  await using session = await CodeModeSession.open(transport, { serverTools: "grok", ...options });
  const { items, errorText } = await session.execute(source, { yieldTimeMs: 60_000 });
  expect(errorText).toBeUndefined();
  return items.map((item) => (item.type === "text" ? item.text : item.type));
}

/** The header that a server answers OpenSession with, and the status when it refuses. */
async function inForce(transport: Transport, headers: Record<string, string>): Promise<unknown> {
  const lease = new AbortController();
  let value: string | null = null;
  const onHeader = (received: Headers): void => {
    value = received.get("trivium-server-tools");
  };
  const events = createClient(CodeModeHost, transport).openSession(
    {},
    { headers, signal: lease.signal, onHeader },
  );
  await events[Symbol.asyncIterator]().next();
  lease.abort();
  return value;
}

const reason = "const reason = (call) => call.then(() => 'no reason', (why) => why);";

verifies("server-tools:off", async ({ transport }) => {
  expect(await inForce(transport, {})).toBeNull();
  await using session = await CodeModeSession.open(transport);
  expect((await session.execute("text(ALL_TOOLS.length)")).items).toMatchObject([{ text: "0" }]);
});

verifies("server-tools:in-force", async ({ transport }) => {
  for (const value of ["grok", "grok;read-only", "none"]) {
    expect(await inForce(transport, { "trivium-server-tools": value })).toBe(value);
  }
  expect(await statusOf(inForce(transport, { "trivium-server-tools": "all" }))).toMatchObject({
    code: Code.InvalidArgument,
  });
});

verifies("server-tools:result", async ({ transport, server, uniqueName }) => {
  await writeFile(join(server.workspace, uniqueName), "hello\n");
  const source = `${reason}
    const { text: shown, output } = await tools.grok__read_file({ target_file: "${uniqueName}" });
    text(typeof shown); text(output.FileContent.raw_output);
    text(await reason(tools.grok__read_file({ target_file: "nowhere" })));
    text(await reason(tools.grok__read_file(["${uniqueName}"])));`;
  expect(await textsOf(transport, source)).toEqual([
    "string",
    "hello\n",
    expect.stringMatching(/^ERROR_CODE_FILE_NOT_FOUND: /),
    expect.stringMatching(/^ERROR_CODE_INVALID_INPUT: .*read_file/),
  ]);
});

verifies("server-tools:invisible", async ({ transport }) => {
  const client = createClient(CodeModeHost, transport);
  const lease = new AbortController();
  const headers = { "trivium-server-tools": "grok" };
  const events = client.openSession({}, { headers, signal: lease.signal })[Symbol.asyncIterator]();
  const first = await events.next();
  if (first.done === true || first.value.event.case !== "opened") throw new Error("no session");
  const { sessionId } = first.value.event.value;
  const source = 'await tools.grok__list_dir({ target_directory: "." })';
  await readAll(client.execute({ sessionId, executionId: "e", toolCallId: "t", source }));
  expect((await events.next()).value?.event).toMatchObject({
    case: "cellClosed",
    value: { finalToolCallSequence: 0n },
  });
  lease.abort();
});

verifies("server-tools:beside-client-tools", async ({ transport }) => {
  await using session = await CodeModeSession.open(transport, { serverTools: "grok" });
  await session.serveTools({ mine: () => "from the client" });
  const source = `text(ALL_TOOLS[0].name); text(await tools.mine());
    text(typeof (await tools.grok__list_dir({ target_directory: "." })).text);`;
  expect((await session.execute(source)).items).toMatchObject([
    { text: "mine" },
    { text: "from the client" },
    { text: "string" },
  ]);
});

verifies("server-tools:client-wins", async ({ transport }) => {
  await using session = await CodeModeSession.open(transport, {
    onToolCall: ({ name, namespace }) => `${namespace} ${name} of the client`,
  });
  const tools = [{ name: "look", toolName: "list_dir", namespace: "grok" }];
  const { items } = await session.execute("text(await tools.look({}))", { tools });
  expect(items).toMatchObject([{ text: "grok list_dir of the client" }]);
});

verifies("server-tools:read-only", async ({ transport }) => {
  const source = "text([typeof tools.grok__read_file, typeof tools.grok__search_replace].join())";
  const options = { serverTools: "grok;read-only" } as const;
  expect(await textsOf(transport, source, options)).toEqual(["function,undefined"]);
});

verifies("server-tools:tool-session", async ({ transport, uniqueName }) => {
  await openToolSession(transport, { tools: ["GrokBuild:list_dir"], sessionId: uniqueName });
  const source = "text(ALL_TOOLS.map(({ name }) => name).join())";
  expect(await textsOf(transport, source, { toolSession: uniqueName })).toEqual(["grok__list_dir"]);
  const opening = CodeModeSession.open(transport, { serverTools: "grok", toolSession: `${uniqueName}-no` });
  await expect(opening).rejects.toMatchObject({ kind: "failedPrecondition" });
});

verifies("server-tools:rules", async ({ transport }) => {
  const source = `${reason}
    text(await reason(tools.grok__read_file({ target_file: "secret.txt" })));
    text(await reason(tools.grok__run_terminal_cmd({ command: "uname" })));`;
  expect(await textsOf(transport, source)).toEqual([
    expect.stringMatching(/^Permission denied: .*denies read_file/),
    expect.stringMatching(/^Permission denied: .*nobody to ask/),
  ]);
});

verifies("server-tools:asked", async ({ transport, uniqueName: sessionId }) => {
  const people = createClient(CrabCodeService, transport);
  const abort = new AbortController();
  const subscribed = Promise.withResolvers<void>();
  const answering = (async () => {
    const options = { headers: { "crabcode-create-session": "1" }, signal: abort.signal };
    for await (const { payloadJson } of people.subscribeEvents({ sessionId }, options)) {
      const event = JSON.parse(payloadJson) as Record<string, unknown>;
      if (event["type"] === "server.connected") subscribed.resolve();
      if (event["type"] !== "permission_request") continue;
      const toolUseId = String(event["tool_use_id"]);
      const allowed = !JSON.stringify(event["tool_input"]).includes("-a");
      await people.respondPermission({ sessionId, toolUseId, allowed });
    }
  })().catch((error: unknown) => {
    if (!abort.signal.aborted) throw error;
  });
  await subscribed.promise;
  const source = `${reason}
    text(await reason(tools.grok__run_terminal_cmd({ command: "uname" })));
    text(await reason(tools.grok__run_terminal_cmd({ command: "uname -a" })));`;
  expect(await textsOf(transport, source, { permissionSession: sessionId })).toEqual([
    "no reason",
    expect.stringMatching(/^Permission denied: refused by the user/),
  ]);
  abort.abort();
  await answering;
});

verifies("server-tools:unknown-conversation", async ({ transport, uniqueName }) => {
  const opening = CodeModeSession.open(transport, { serverTools: "grok", permissionSession: uniqueName });
  await expect(opening).rejects.toMatchObject({ kind: "notFound" });
});
