import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { type Clock, systemClock } from "@trivium/core";
import { temporaryFolder } from "@trivium/core/testing";
import type { CallOptions } from "../../execute/call-options.ts";
import type { ToolAnswer } from "../../execute/tool-answer.ts";
import type { JsonObject } from "../../json.ts";
import type { CallbackLink } from "../../notifications/callback-dialer.ts";
import { createCommandRunner } from "../../process/create-command-runner.ts";
import { testRuntime } from "../../testing/test-runtime.ts";
import type { ToolSession } from "../../tool-session.ts";
import type { ToolSettings } from "../../tool-settings.ts";
import { applyPatch } from "../../tools/codex/apply-patch/apply-patch.ts";
import { lsp } from "../../tools/grok-build/lsp/lsp.ts";
import { readFile as readFileTool } from "../../tools/grok-build/read-file/read-file.ts";
import { searchReplace } from "../../tools/grok-build/search-replace/search-replace.ts";
import { lspServerConfig } from "../config/lsp-server-config.ts";
import type { FakeServerOptions } from "./fake-server-options.ts";

/** A session with language servers whose programs are really started. */
export interface LspTest extends AsyncDisposable {
  readonly session: ToolSession;
  /** Folder of the session. */
  readonly workspace: string;
  /** What the host was told, in order, without changes of files. */
  readonly told: readonly JsonObject[];
  put(name: string, text: string): Promise<void>;
  ask(input: JsonObject, options?: CallOptions): Promise<ToolAnswer["result"]>;
  /** Changes a file with the edit tool. Answers with the text of the call, reminders included. */
  edit(name: string, before: string, after: string): Promise<string>;
}

/** What an {@link LspTest} has besides its defaults. */
export interface LspTestOptions {
  /** As in an `lsp.json`. Default: the fake server for `.fake`, as `fake`. */
  readonly servers?: Readonly<Record<string, JsonObject>>;
  readonly settings?: Partial<ToolSettings>;
  readonly params?: JsonObject;
  readonly reminders?: boolean;
  readonly clock?: Clock;
}

/** Opens an {@link LspTest}. */
export async function lspTest(options: LspTestOptions = {}): Promise<LspTest> {
  const { servers = { fake: fakeServer() }, clock = systemClock, reminders = false } = options;
  await using stack = new AsyncDisposableStack();
  const folder = stack.use(await temporaryFolder());
  const runner = stack.use(await createCommandRunner({ dataFolder: folder.path }));
  const told: JsonObject[] = [];
  const parsed = Object.entries(servers).map(([name, entry]) => [name, lspServerConfig.parse(entry)]);
  const test = stack.use(
    await testRuntime([lsp, readFileTool, searchReplace, applyPatch], {
      programRunner: runner.programs,
      clock,
      environment: { PATH: process.env["PATH"], HOME: folder.path },
      callbacks: { dialer: { open: () => listener(told) } },
      settings: { lsp: { servers: Object.fromEntries(parsed), trustedFolders: [] }, ...options.settings },
    }),
  );
  const { workspace } = test;
  const session = await test.runtime.openSession({
    id: "lsp",
    tools: [
      { id: "GrokBuild:lsp", params: options.params ?? {} },
      "GrokBuild:read_file",
      "GrokBuild:search_replace",
      "Codex:apply_patch",
    ],
    systemRemindersEnabled: reminders,
    clientCallbackAddr: "host:1",
  });
  const owned = stack.move();
  const ask: LspTest["ask"] = async (input, call = {}) => (await session.execute("lsp", input, call)).result;
  return {
    session,
    workspace,
    told,
    put: (name, text) => writeFile(join(workspace, name), text),
    ask,
    async edit(name, before, after) {
      const input = { file_path: join(workspace, name), old_string: before, new_string: after };
      const { result } = await session.execute("search_replace", input);
      if (!result.ok) throw result.error;
      return result.promptText;
    },
    [Symbol.asyncDispose]: () => owned.disposeAsync(),
  };
}

/** An entry of an `lsp.json` for the fake server. */
export function fakeServer(options: FakeServerOptions = {}, entry: JsonObject = {}): JsonObject {
  const script = fileURLToPath(new URL("./fake-server.ts", import.meta.url));
  return {
    command: process.execPath,
    args: ["--disable-warning=ExperimentalWarning", script],
    env: { FAKE_LSP: JSON.stringify(options) },
    extensions: { ".fake": "fake" },
    ...entry,
  };
}

/** A message that the fake server was sent. */
export interface LoggedMessage {
  readonly method: string;
  readonly params: JsonObject;
}

/** What the fake server was told, from its log; without the answers to its own questions. */
export async function readLog(file: string): Promise<LoggedMessage[]> {
  const lines = (await readFile(file, "utf8")).trim().split("\n");
  return lines.map((line): LoggedMessage => JSON.parse(line));
}

/** The text of an answer, or of its error. */
export function textOf(result: ToolAnswer["result"]): string {
  return result.ok ? result.promptText : result.error.message;
}

function listener(told: JsonObject[]): CallbackLink {
  return {
    connect: () => Promise.resolve(),
    ready: () => Promise.resolve(),
    notify({ notificationJson }) {
      const notification: JsonObject = JSON.parse(notificationJson);
      if (notification["type"] !== "FileWritten") told.push(notification);
      return Promise.resolve();
    },
    run: () => Promise.reject(new Error("no subagents here")),
    [Symbol.asyncDispose]: () => Promise.resolve(),
  };
}
