import { join } from "node:path";
import { ManualClock, temporaryFolder } from "@trivium/core/testing";
import { ErrorCode } from "@trivium/proto/grok-tools";
import { describe, expect, it } from "vitest";
import { commandLines } from "../../testing/command-lines.ts";
import { until } from "../../testing/until.ts";
import { fakeServer, type LspTest, lspTest, readLog, textOf } from "../testing/lsp-test.ts";

const hover = { operation: "hover", file_path: "x.fake", line: 0, character: 0 };
const typesOf = ({ told }: LspTest): unknown[] => told.map(({ type }) => type);

describe("a language server", { timeout: 60_000 }, () => {
  it("is started by the first call, told what this client can do, and ended in order", async () => {
    await using folder = await temporaryFolder();
    const log = join(folder.path, "log");
    const entry = {
      initialization_options: { fast: true },
      settings: { "fake.depth": 3, other: {} },
      workspace_folder: "sub",
      workspace_open: { solution: "a b.sln", projects: ["p.proj"] },
    };
    const server = fakeServer({ log, configuration: ["fake", "fake.depth", "none"] }, entry);
    await using test = await lspTest({ servers: { fake: server } });
    await test.put("x.fake", "text");
    expect(test.told).toEqual([]);
    expect(textOf(await test.ask(hover))).toBe("text");
    await test.session.close();

    const messages = await readLog(log);
    expect(messages.map(({ method }) => method).filter((method) => method !== "configuration")).toEqual([
      "initialize",
      "initialized",
      "workspace/didChangeConfiguration",
      "solution/open",
      "project/open",
      "textDocument/didOpen",
      "textDocument/hover",
      "shutdown",
      "exit",
    ]);
    const paramsOf = (name: string): unknown => messages.find(({ method }) => method === name)?.params;
    const uri = `file://${test.workspace}`;
    expect(paramsOf("initialize")).toMatchObject({
      initializationOptions: { fast: true },
      workspaceFolders: [{ uri: `${uri}/sub`, name: "sub" }],
    });
    expect(paramsOf("configuration")).toEqual([{ depth: 3 }, 3, null]);
    expect(paramsOf("solution/open")).toEqual({ solution: `${uri}/a%20b.sln` });
    expect(paramsOf("textDocument/didOpen")).toEqual({
      textDocument: { uri: `${uri}/x.fake`, languageId: "fake", version: 1, text: "text" },
    });
    expect(test.told).toEqual([
      { type: "LspServerStarting", server_name: "fake", command: process.execPath },
      { type: "LspServerReady", server_name: "fake" },
    ]);
  });

  it("may talk over a socket", async () => {
    await using test = await lspTest({ servers: { fake: fakeServer({}, { transport: "socket" }) } });
    await test.put("x.fake", "over the wire");
    expect(textOf(await test.ask(hover))).toBe("over the wire");
  });

  it("that does not end is killed when its time is over", async () => {
    const server = fakeServer({ shutdown: "hang" }, { shutdown_timeout: 100 });
    await using test = await lspTest({
      servers: { fake: { ...server, args: [...marked(server), "mark-hang"] } },
    });
    await test.put("x.fake", "");
    await test.ask(hover);
    const running = (): boolean => commandLines().some((line) => line.includes("mark-hang"));
    expect(running()).toBe(true);
    await test.session.close();
    expect(running()).toBe(false);
  });

  it.each([
    {
      what: "is not installed",
      entry: { command: "no-such-server" },
      message: /no-such-server/,
      retryable: false,
      attempts: 0,
    },
    { what: "refuses to start", options: { start: "refuse" }, message: /no licence/ },
    {
      what: "crashes while it starts",
      options: { start: "crash" },
      message: /exit code 3: the fake server gives up/,
    },
    {
      what: "is not ready in time",
      entry: { startup_timeout: 100 },
      options: { start: "hang" },
      message: /within 100 ms/,
    },
    { what: "says what is no message", options: { garbage: true }, message: /Content-Length/ },
  ] as const)("that $what is reported", async (row) => {
    const { entry, options, message, retryable, attempts } = {
      entry: {},
      options: {},
      retryable: true,
      attempts: 1,
      ...row,
    };
    await using test = await lspTest({ servers: { fake: fakeServer(options, entry) } });
    await test.put("x.fake", "");
    const result = await test.ask(hover);
    expect(result).toMatchObject({ ok: false, error: { code: ErrorCode.EXECUTION_FAILED, retryable } });
    expect(textOf(result)).toMatch(message);
    await until(() => test.told.length === 2);
    expect(test.told[1]).toMatchObject({ type: "LspServerFailed", server_name: "fake", attempts });
  });

  it("that has crashed is started by the next call, as often as it may fail in a row", async () => {
    await using test = await lspTest({ servers: { fake: fakeServer({}, { maxRestarts: 1 }) } });
    await test.put("x.fake", "CRASH ALWAYS");
    const first = await test.ask(hover);
    expect(first).toMatchObject({ ok: false, error: { code: ErrorCode.EXECUTION_FAILED, retryable: true } });
    expect(textOf(first)).toContain("exit code 3");
    expect(await test.ask(hover)).toMatchObject({ ok: false, error: { retryable: false } });
    const last = await test.ask(hover);
    expect(last).toMatchObject({ ok: false, error: { retryable: false } });
    expect(textOf(last)).toContain("started 2 times");
    await until(() => test.told.length === 8);
    const once = ["LspServerStarting", "LspServerReady", "LspServerCrashed", "LspServerFailed"];
    expect(typesOf(test)).toEqual([...once, ...once]);
    expect(test.told[7]).toMatchObject({ attempts: 2 });
  });

  it("comes back by itself after a crash when it shall, knowing its files, later each time", async () => {
    await using folder = await temporaryFolder();
    const clock = new ManualClock();
    const options = { log: join(folder.path, "log") };
    const server = fakeServer(options, { restart_on_crash: true, max_restarts: 2 });
    await using test = await lspTest({ servers: { fake: server }, clock });
    await test.put("x.fake", "CRASH ALWAYS");
    for (let count = 1; count <= 3; count++) {
      const asked = test.ask(hover);
      if (count > 1) {
        await until(() => typesOf(test).filter((type) => type === "LspServerRetrying").length === count - 1);
        await clock.advance(1000 * 2 ** (count - 2));
      }
      expect(await asked).toMatchObject({ ok: false, error: { retryable: count < 3 } });
    }
    await until(() => typesOf(test).includes("LspServerFailed"));
    const retries = test.told.filter(({ type }) => type === "LspServerRetrying");
    expect(retries).toEqual([
      { type: "LspServerRetrying", server_name: "fake", attempt: 1, max_restarts: 2, backoff_ms: 1000 },
      { type: "LspServerRetrying", server_name: "fake", attempt: 2, max_restarts: 2, backoff_ms: 2000 },
    ]);
    expect(test.told.at(-1)).toMatchObject({ type: "LspServerFailed", attempts: 3 });
    const messages = await readLog(options.log);
    expect(messages.filter(({ method }) => method === "textDocument/didOpen")).toHaveLength(3);
  });

  it("is waited for half a minute", async () => {
    const clock = new ManualClock();
    await using test = await lspTest({ clock });
    await test.put("x.fake", "HANG");
    let isAnswered = false;
    const asked = test.ask(hover);
    void asked.then(() => {
      isAnswered = true;
    });
    await until(() => typesOf(test).includes("LspServerReady"));
    await untilAdvanced(clock, () => isAnswered);
    expect(await asked).toMatchObject({ ok: false, error: { code: ErrorCode.TIMEOUT, retryable: true } });
  });

  it("ends with its session while it is still starting", async () => {
    const server = fakeServer({ start: "hang" });
    await using test = await lspTest({
      servers: { fake: { ...server, args: [...marked(server), "mark-start"] } },
    });
    await test.put("x.fake", "");
    const asked = test.ask(hover).catch((cause: unknown) => cause);
    const running = (): boolean => commandLines().some((line) => line.includes("mark-start"));
    await until(running);
    await test.session.close();
    await asked;
    expect(running()).toBe(false);
  });
});

function marked(server: ReturnType<typeof fakeServer>): string[] {
  const args = server["args"];
  return Array.isArray(args) ? args.map(String) : [];
}

/** Lets time pass until something holds: programs take real time, so no one moment is the right one. */
async function untilAdvanced(clock: ManualClock, condition: () => boolean): Promise<void> {
  const end = performance.now() + 30_000;
  while (!condition()) {
    if (performance.now() > end) throw new Error("the condition did not come true");
    await clock.advance(50);
    await new Promise((resolve) => setImmediate(resolve));
  }
}
