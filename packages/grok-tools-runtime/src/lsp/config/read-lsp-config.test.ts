import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { temporaryFolder } from "@trivium/core/testing";
import { describe, expect, it } from "vitest";
import type { LspSettings } from "../../tool-settings.ts";
import { type LspServerConfig, lspServerConfig } from "./lsp-server-config.ts";
import { type LspConfig, readLspConfig } from "./read-lsp-config.ts";

interface Places extends AsyncDisposable {
  readonly project: string;
  readonly home: string;
  /** Writes an `lsp.json`. */
  put(folder: string, content: unknown): Promise<void>;
  read(lsp?: Partial<LspSettings>): LspConfig;
}

async function places(): Promise<Places> {
  const folder = await temporaryFolder();
  const [project, home] = [join(folder.path, "work", "project"), join(folder.path, "home")];
  return {
    project,
    home,
    async put(where, content) {
      await mkdir(join(where, ".grok"), { recursive: true });
      const text = typeof content === "string" ? content : JSON.stringify(content);
      await writeFile(join(where, ".grok", "lsp.json"), text);
    },
    read: (lsp = {}) =>
      readLspConfig({
        settings: { lsp: { servers: {}, trustedFolders: [], ...lsp } },
        directory: project,
        homeDirectory: home,
      }),
    [Symbol.asyncDispose]: () => folder[Symbol.asyncDispose](),
  };
}

const entry = (command: string): { command: string; extensions: Record<string, string> } => ({
  command,
  extensions: { ".x": "x" },
});
const commandsOf = ({ servers }: LspConfig): [string, string][] =>
  [...servers].map(([name, { command }]) => [name, command]);

describe("readLspConfig", () => {
  it("finds nothing where nothing is", async () => {
    await using test = await places();
    expect(test.read()).toEqual({ servers: new Map(), problems: [] });
  });

  it("lets the settings replace the user's servers and a trusted project all, in the order of the names", async () => {
    await using test = await places();
    await test.put(test.home, { b: entry("home-b"), c: entry("home-c"), d: entry("home-d") });
    await test.put(test.project, { c: entry("project-c"), a: entry("project-a") });
    const servers = { b: lspServerConfig.parse(entry("set-b")), c: lspServerConfig.parse(entry("set-c")) };
    const withoutProject = [
      ["b", "set-b"],
      ["c", "set-c"],
      ["d", "home-d"],
    ];
    expect(commandsOf(test.read({ servers }))).toEqual(withoutProject);
    const trustedFolders = [join(test.project, "..")];
    expect(commandsOf(test.read({ servers, trustedFolders }))).toEqual([
      ["a", "project-a"],
      ["b", "set-b"],
      ["c", "project-c"],
      ["d", "home-d"],
    ]);
    // Not below it, although it begins the same.
    expect(commandsOf(test.read({ servers, trustedFolders: [test.project.slice(0, -1)] }))).toEqual(
      withoutProject,
    );
  });

  it.each([
    ["{", /lsp\.json: /],
    ["[]", /lsp\.json: expected an object/],
    ['{"bad":{"command":"x"}}', /lsp\.json: bad\.extensions: missing/],
    ['{"bad":{"command":"x","extensions":{},"max_restarts":-1}}', /bad\.max_restarts/],
    ['{"bad":{"command":"x","extensions":{},"nonsense":1}}', /bad.*nonsense/],
  ])("leaves out what is wrong in %s and says so", async (text, problem) => {
    await using test = await places();
    await test.put(test.home, text);
    const { servers, problems } = test.read();
    expect([...servers]).toEqual([]);
    expect(problems).toEqual([expect.stringMatching(problem)]);
  });

  it("keeps the right entries beside a wrong one", async () => {
    await using test = await places();
    await test.put(test.home, { good: entry("good"), bad: {} });
    expect(commandsOf(test.read())).toEqual([["good", "good"]]);
  });

  it("does not read what is no file", async () => {
    await using test = await places();
    await mkdir(join(test.home, ".grok", "lsp.json"), { recursive: true });
    expect(test.read().problems).toEqual([expect.stringContaining("expected a file")]);
  });
});

describe("lspServerConfig", () => {
  const defaults: LspServerConfig = {
    command: "x",
    args: [],
    transport: "stdio",
    env: {},
    extensions: { ".ts": "typescript" },
    initializationOptions: undefined,
    settings: undefined,
    workspaceFolder: undefined,
    workspaceOpen: undefined,
    startupTimeoutMs: 15_000,
    shutdownTimeoutMs: 5_000,
    restartOnCrash: false,
    maxRestarts: 3,
  };

  it.each(["extensions", "extensionToLanguage", "extensionToLanguageId"])(
    "takes the languages from %s",
    (key) => {
      expect(lspServerConfig.parse({ command: "x", [key]: { TS: "typescript" } })).toEqual(defaults);
    },
  );

  it.each([
    [
      "snake case",
      {
        initialization_options: 1,
        workspace_folder: "w",
        workspace_open: { projects: ["p"] },
        startup_timeout: 1,
        shutdown_timeout: 2,
        restart_on_crash: true,
        max_restarts: 0,
      },
    ],
    [
      "camel case",
      {
        initializationOptions: 1,
        workspaceFolder: "w",
        workspaceOpen: { projects: ["p"] },
        startupTimeout: 1,
        shutdownTimeout: 2,
        restartOnCrash: true,
        maxRestarts: 0,
      },
    ],
  ])("takes keys in %s", (_case, keys) => {
    const parsed = lspServerConfig.parse({ command: "x", extensions: { ".ts": "typescript" }, ...keys });
    expect(parsed).toEqual({
      ...defaults,
      initializationOptions: 1,
      workspaceFolder: "w",
      workspaceOpen: { solution: undefined, projects: ["p"] },
      startupTimeoutMs: 1,
      shutdownTimeoutMs: 2,
      restartOnCrash: true,
      maxRestarts: 0,
    });
  });
});
