import { readdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { createClient, type Transport } from "@connectrpc/connect";
import { createGrpcTransport } from "@connectrpc/connect-node";
import { type CellOutcome, CodeModeSession, type OpenSessionOptions } from "@trivium/code-mode-client";
import { openToolSession } from "@trivium/grok-tools-client";
import { CodeModeHost } from "@trivium/proto/code-mode";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { protocols } from "./protocols.ts";
import { eventually, processesWith } from "./server/process-tree.ts";
import { type ServerProcess, startServerProcess } from "./server/server-process.ts";

const rules = {
  deny: [
    { tool: "*", path: "*secret*" },
    { tool: "run_terminal_cmd", command: "rm *" },
  ],
  ask: [{ tool: "run_terminal_cmd", command: "git *" }],
};

let server: ServerProcess;
let transport: Transport;
beforeAll(async () => {
  server = await startServerProcess({
    parameters: ["--set", `codeMode.serverToolRules=${JSON.stringify(rules)}`],
  });
  transport = createGrpcTransport({ baseUrl: server.url });
});
afterAll(() => server[Symbol.asyncDispose]());

async function open(options: OpenSessionOptions = {}, over = transport): Promise<CodeModeSession> {
  return await CodeModeSession.open(over, { serverTools: "grok", ...options });
}

function textsOf({ items, errorText }: CellOutcome): string[] {
  expect(errorText).toBeUndefined();
  return items.map((item) => (item.type === "text" ? item.text : item.type));
}

/** Folders of tool sessions that were made for a session of code mode. */
async function privateFolders(): Promise<string[]> {
  const folders = await readdir(join(server.dataDir, "tools", "sessions"));
  return folders.filter((name) => name.startsWith("code-mode-"));
}

/** Runs `source`, which may use `reason(promise)`: what a promise rejects with. */
async function run(session: CodeModeSession, source: string): Promise<string[]> {
  const reason = "const reason = (call) => call.then(() => 'no reason', (why) => why);";
  return textsOf(await session.execute(`${reason}\n${source}`));
}

describe.each(protocols)("server tools over $name", (protocol) => {
  it("list, read and edit a file while the client answers another tool", async () => {
    const file = `${protocol.name.replaceAll(/\W/g, "-")}.txt`;
    await writeFile(join(server.workspace, file), "hello\n");
    await using session = await open({}, protocol.createTransport(server.url));
    const asked: unknown[] = [];
    await session.serveTools({ shout: (input) => asked.push(input) });
    const texts = await run(
      session,
      `const listed = await tools.grok__list_dir({ target_directory: "." });
      const read = await tools.grok__read_file({ target_file: ${JSON.stringify(file)} });
      const count = await tools.shout(read.output.FileContent.raw_output);
      await tools.grok__search_replace({ file_path: ${JSON.stringify(file)}, old_string: "hello", new_string: "bye" });
      text(listed.text.includes(${JSON.stringify(file)}));
      text(count);
      text(ALL_TOOLS.slice(0, 2).map(({ name }) => name).join());`,
    );
    expect(texts).toEqual(["true", "1", "shout,grok__run_terminal_cmd"]);
    expect(asked).toEqual(["hello\n"]);
    expect(await readFile(join(server.workspace, file), "utf8")).toBe("bye\n");
  });
});

describe("server tools", () => {
  it("are not there unless they are asked for", async () => {
    await using session = await CodeModeSession.open(transport);
    expect(await run(session, "text(ALL_TOOLS.length)")).toEqual(["0"]);
  });

  it("are not there either when a session refuses them", async () => {
    await using session = await open({ serverTools: "none" });
    expect(await run(session, "text(ALL_TOOLS.length)")).toEqual(["0"]);
  });

  it("are said by the response, and an unknown value is refused", async () => {
    const client = createClient(CodeModeHost, transport);
    const opening = async (value: string): Promise<string | null | undefined> => {
      const controller = new AbortController();
      let inForce: string | null | undefined;
      const call = {
        headers: { "trivium-server-tools": value },
        signal: controller.signal,
        onHeader: (headers: Headers) => {
          inForce = headers.get("trivium-server-tools");
        },
      };
      for await (const _ of client.openSession({}, call)) break;
      return inForce;
    };
    expect(await opening("grok;read-only")).toBe("grok;read-only");
    expect(await opening("none")).toBe("none");
    await expect(opening("all")).rejects.toThrow(/"all".*grok, grok;read-only, none/);
  });

  it("leave no trace on the client's streams", async () => {
    await writeFile(join(server.workspace, "a.txt"), "hello");
    const client = createClient(CodeModeHost, transport);
    const lease = new AbortController();
    const headers = { "trivium-server-tools": "grok" };
    const events = client.openSession({}, { headers, signal: lease.signal })[Symbol.asyncIterator]();
    const first = await events.next();
    if (first.done === true || first.value.event.case !== "opened") throw new Error("no session");
    const { sessionId } = first.value.event.value;
    const source = `const r = await tools.grok__read_file({ target_file: "a.txt" }); text(r.output.FileContent.raw_output)`;
    for await (const { event } of client.execute({ sessionId, executionId: "e", toolCallId: "t", source })) {
      if (event.case === "outcome") {
        expect(event.value.contentItems).toMatchObject([{ item: { value: { text: "hello" } } }]);
      }
    }
    const closed = await events.next();
    expect(closed.value?.event).toMatchObject({
      case: "cellClosed",
      value: { executionId: "e", finalToolCallSequence: 0n },
    });
    lease.abort();
  });

  it("give way to a client that takes everything", async () => {
    await using session = await CodeModeSession.open(transport, { onToolCall: ({ name }) => `my ${name}` });
    const tools = [{ name: "mine", toolName: "read_file", namespace: "grok" }];
    const outcome = await session.execute("text(await tools.mine())", { tools });
    expect(textsOf(outcome)).toEqual(["my read_file"]);
  });

  it("serve a tool that the client lists under a name of its own", async () => {
    await writeFile(join(server.workspace, "own.txt"), "own");
    await using session = await open();
    const tools = [{ name: "peek", toolName: "read_file", namespace: "grok", description: "Peeks." }];
    const source = `text((await tools.peek({ target_file: "own.txt" })).output.FileContent.raw_output);
      text(typeof tools.grok__read_file); text(ALL_TOOLS[0].description)`;
    expect(textsOf(await session.execute(source, { tools }))).toEqual(["own", "undefined", "Peeks."]);
  });

  it("say what is wrong with a call by a string", async () => {
    await using session = await open();
    const source = `const reason = (call) => call.then(() => "no reason", (why) => why);
      text(await reason(tools.absent({})));
      text(await reason(tools.grok__read_file("a.txt")));
      text(await reason(tools.grok__read_file()));
      text(await reason(tools.grok__read_file({ target_file: "not-there.txt" })));`;
    const tools = [{ name: "absent", toolName: "fly", namespace: "grok" }];
    const texts = textsOf(await session.execute(source, { tools }));
    expect(texts).toEqual([
      expect.stringMatching(/^ERROR_CODE_TOOL_NOT_FOUND: no tool named fly/),
      expect.stringMatching(/^ERROR_CODE_INVALID_INPUT: .*read_file/),
      expect.stringMatching(/^ERROR_CODE_MISSING_REQUIRED_FIELD: .*target_file/),
      expect.stringMatching(/^ERROR_CODE_FILE_NOT_FOUND: /),
    ]);
  });

  it("have the tools and the state of a tool session that is named", async () => {
    await openToolSession(transport, { tools: ["GrokBuild:list_dir"], sessionId: "shared" });
    await using session = await open({ toolSession: "shared" });
    expect(await run(session, "text(ALL_TOOLS.map(({ name }) => name).join())")).toEqual(["grok__list_dir"]);
    await expect(open({ toolSession: "never finalized" })).rejects.toMatchObject({ kind: "invalidInput" });
    await expect(open({ toolSession: "never-finalized" })).rejects.toMatchObject({
      kind: "failedPrecondition",
    });
  });
});

describe("permissions of server tools", () => {
  it("deny by rule, and where nobody can be asked", async () => {
    await writeFile(join(server.workspace, "secret.txt"), "s");
    await using session = await open();
    const texts = await run(
      session,
      `text(await reason(tools.grok__read_file({ target_file: "secret.txt" })));
      text(await reason(tools.grok__run_terminal_cmd({ command: "true; rm secret.txt" })));
      text(await reason(tools.grok__run_terminal_cmd({ command: "git push" })));
      text((await tools.grok__run_terminal_cmd({ command: "echo fine" })).text.includes("fine"));`,
    );
    expect(texts).toEqual([
      expect.stringMatching(/^Permission denied: .*read_file/),
      expect.stringMatching(/^Permission denied: .*run_terminal_cmd/),
      expect.stringMatching(/^Permission denied: .*nobody to ask/),
      "true",
    ]);
    expect(await readFile(join(server.workspace, "secret.txt"), "utf8")).toBe("s");
  });

  it("allow reading alone where that was asked for", async () => {
    await writeFile(join(server.workspace, "kept.txt"), "kept");
    await using session = await open({ serverTools: "grok;read-only" });
    const texts = await run(
      session,
      `text((await tools.grok__read_file({ target_file: "kept.txt" })).output.FileContent.raw_output);
      text(typeof tools.grok__search_replace);`,
    );
    expect(texts).toEqual(["kept", "undefined"]);
    const source = `text(await tools.edit({ file_path: "kept.txt", old_string: "kept", new_string: "x" }).catch((why) => why))`;
    const tools = [{ name: "edit", toolName: "search_replace", namespace: "grok" }];
    expect(textsOf(await session.execute(source, { tools }))).toEqual([
      expect.stringMatching(/^Permission denied: /),
    ]);
    expect(await readFile(join(server.workspace, "kept.txt"), "utf8")).toBe("kept");
  });
});

describe("the end of a program or session", () => {
  const command = (seconds: string) => `await tools.grok__run_terminal_cmd({ command: "sleep ${seconds}" })`;

  async function startCommand(session: CodeModeSession, seconds: string): Promise<string> {
    const { cellId } = await session.execute(command(seconds), { yieldTimeMs: 0 });
    expect(await eventually(() => processesWith(`sleep ${seconds}`).length > 0, 10_000)).toBe(true);
    return cellId;
  }

  it("ends the command of a cell that is terminated before it is reported closed", async () => {
    const closed = Promise.withResolvers<string>();
    await using session = await open({ onCellClosed: closed.resolve });
    const cellId = await startCommand(session, "3601.25");
    await session.terminate(cellId);
    await closed.promise;
    expect(await eventually(() => processesWith("sleep 3601.25").length === 0, 2000)).toBe(true);
  });

  it("ends a running command when the session is closed", async () => {
    const session = await open();
    await startCommand(session, "3602.25");
    await session.close();
    expect(processesWith("sleep 3602.25")).toEqual([]);
  });

  it("ends what runs in the background of a session of its own", async () => {
    const session = await open();
    const start = `await tools.grok__run_terminal_cmd({ command: "sleep 3603.25", is_background: true })`;
    expect((await session.execute(start)).errorText).toBeUndefined();
    expect(processesWith("sleep 3603.25")).not.toEqual([]);
    expect(await privateFolders()).toHaveLength(1);
    await session.close();
    expect(processesWith("sleep 3603.25")).toEqual([]);
    expect(await privateFolders()).toEqual([]);
  });
});

describe("a server whose configuration has server tools", () => {
  it("gives them to sessions that do not say otherwise, also without its other services", async () => {
    await using other = await startServerProcess({
      parameters: ["--set", "codeMode.serverTools=grok", "--set", "services=code-mode"],
    });
    const over = createGrpcTransport({ baseUrl: other.url });
    await using session = await CodeModeSession.open(over);
    expect(await run(session, "text(typeof tools.grok__read_file)")).toEqual(["function"]);
    await using without = await CodeModeSession.open(over, { serverTools: "none" });
    expect(await run(without, "text(typeof tools.grok__read_file)")).toEqual(["undefined"]);
  });
});
