import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { temporaryFolder } from "@trivium/core/testing";
import { describe, expect, it } from "vitest";
import { configKeys, isConfigName } from "./config-keys.ts";
import { readConfig } from "./read-config.ts";

const nothing = { flags: [], env: {}, folder: "/somewhere" };

/** A value that is not the default for every setting, as text and as what it must become. */
const examples: Record<string, { text: string; value: unknown }> = {
  listen: { text: "127.0.0.1:0", value: "127.0.0.1:0" },
  workspace: { text: "/ws", value: "/ws" },
  dataDir: { text: "data", value: "/somewhere/data" },
  token: { text: "123", value: "123" },
  allowedOrigins: {
    text: "https://a.example, https://b.example",
    value: ["https://a.example", "https://b.example"],
  },
  allowedHosts: { text: '["h"]', value: ["h"] },
  "tls.cert": { text: "c.pem", value: "/somewhere/c.pem" },
  "tls.key": { text: "k.pem", value: "/somewhere/k.pem" },
  "tls.clientCa": { text: "ca.pem", value: "/somewhere/ca.pem" },
  services: { text: "crabcode", value: ["crabcode"] },
  models: { text: '{"m":{"provider":"ollama"}}', value: { m: { provider: "ollama" } } },
  defaultModel: { text: "m", value: "m" },
  "codeMode.isolation": { text: "dedicated", value: "dedicated" },
  "codeMode.maxCells": { text: "7", value: 7 },
  "codeMode.keepOversizedOutput": { text: "true", value: true },
  "codeMode.maxRequests": { text: "9", value: 9 },
  "codeMode.serverTools": { text: "grok", value: ["grok"] },
  "codeMode.serverToolRules": {
    text: '{"deny":[{"tool":"run_terminal_cmd","command":"rm *"}]}',
    value: { deny: [{ tool: "run_terminal_cmd", command: "rm *" }], ask: [], allow: [] },
  },
  "limits.requestBytes": { text: "1024", value: 1024 },
  "limits.connectionBytes": { text: "1024", value: 1024 },
  "limits.totalBytes": { text: "1024", value: 1024 },
  "limits.headerBytes": { text: "1024", value: 1024 },
  "limits.streamsPerConnection": { text: "5", value: 5 },
  "limits.drainMs": { text: "100", value: 100 },
  "tools.logicalErrors": { text: "output", value: "output" },
  "tools.workspaceRoots": { text: "/a,/b", value: ["/a", "/b"] },
  "tools.sessionIdleMinutes": { text: "0.5", value: 0.5 },
  "tools.maxConcurrentCommands": { text: "2", value: 2 },
  "tools.environment": {
    text: '{"inherit":"none"}',
    value: { inherit: "none", exclude: [], set: {}, includeOnly: [], ignoreDefaultExcludes: false },
  },
  "tools.loginShell": { text: "true", value: true },
  "tools.sandbox": { text: "bwrap", value: "bwrap" },
  "tools.sandboxNetwork": { text: "true", value: true },
  "tools.rgPath": { text: "/usr/bin/rg", value: "/usr/bin/rg" },
  "tools.respectGitignore": { text: "all", value: "all" },
  "tools.pathHints": { text: "false", value: false },
  "tools.fileWrittenContent": { text: "none", value: "none" },
  "tools.agentDefinitions": { text: "true", value: true },
  "tools.skills.compat": { text: "false", value: false },
  "tools.skills.folders": { text: '["/s"]', value: ["/s"] },
  "callbacks.required": { text: "true", value: true },
  "callbacks.allowInsecure": { text: "true", value: true },
  "callbacks.allowHosts": {
    text: "agents.example,10.0.0.7:9000",
    value: ["agents.example", "10.0.0.7:9000"],
  },
  "tools.memory.enabled": { text: "false", value: false },
  "tools.memory.globalDir": { text: "notes", value: "/somewhere/notes" },
  "tools.mcpServers": {
    text: '{"files":{"command":"mcp-files","args":["."]}}',
    value: { files: { command: "mcp-files", args: ["."] } },
  },
  "tools.lsp.servers": {
    text: '{"ts":{"command":"tsls","args":["--stdio"],"extensionToLanguage":{"TS":"typescript"}}}',
    value: {
      ts: {
        command: "tsls",
        args: ["--stdio"],
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
      },
    },
  },
  "tools.lsp.trustedFolders": { text: "/src,/w", value: ["/src", "/w"] },
  "tools.workflow": { text: "false", value: false },
  "tools.webFetch.enabled": { text: "false", value: false },
  "tools.webFetch.allowedDomains": { text: "a.example,*", value: ["a.example", "*"] },
  "tools.webFetch.allowLocal": { text: "true", value: true },
  "tools.webFetch.proxyEndpoint": { text: "http://p.example:3128", value: "http://p.example:3128" },
  "tools.webFetch.timeoutSecs": { text: "5", value: 5 },
  "tools.webFetch.cacheTtlSecs": { text: "0", value: 0 },
  "tools.webFetch.maxCacheEntries": { text: "3", value: 3 },
  "tools.webFetch.maxContentLength": { text: "1024", value: 1024 },
  "tools.webFetch.maxMarkdownLength": { text: "1024", value: 1024 },
  "tools.webFetch.contextWindowTokens": { text: "1000", value: 1000 },
  "tools.webSearch": {
    text: '{"provider":"searxng","baseUrl":"http://127.0.0.1:8888","allowedDomains":["docs.rs"]}',
    value: { provider: "searxng", baseUrl: "http://127.0.0.1:8888", allowedDomains: ["docs.rs"] },
  },
  "tools.media.images": {
    text: '{"baseUrl":"https://a.example/v1","model":"m","apiKeyEnv":"K"}',
    value: { baseUrl: "https://a.example/v1", model: "m", apiKeyEnv: "K" },
  },
  "tools.media.videos": {
    text: '{"baseUrl":"https://a.example/v1","model":"m","apiKeyFile":"/k"}',
    value: { baseUrl: "https://a.example/v1", model: "m", apiKeyFile: "/k" },
  },
  "crabcode.rejoinGraceSeconds": { text: "1", value: 1 },
  "crabcode.resumeDefaultSession": { text: "false", value: false },
  "crabcode.maxQueuedMessages": { text: "1", value: 1 },
  "crabcode.eventLog.maxEvents": { text: "16", value: 16 },
  "crabcode.eventLog.maxBytes": { text: "4096", value: 4096 },
  "crabcode.eventLog.maxAgeDays": { text: "1", value: 1 },
  "crabcode.settingsFile": { text: "s.json", value: "/somewhere/s.json" },
  "crabcode.testing": { text: "true", value: true },
  "log.level": { text: "debug", value: "debug" },
};

describe("readConfig", () => {
  it("has an example of every setting in this test", () => {
    expect(Object.keys(examples).sort()).toEqual(Object.keys(configKeys).sort());
  });

  it.each(Object.entries(examples))("takes %s from --set", (name, { text, value }) => {
    const config = readConfig({ ...nothing, flags: [{ name, text, flag: "--set" }] });
    if (!isConfigName(name)) throw new Error(name);
    expect(config.values[name]).toEqual(value);
    expect(config.origins[name]).toBe("--set");
  });

  it.each(
    Object.entries(configKeys).flatMap(([name, { env }]: [string, { env?: string }]) =>
      env === undefined ? [] : [[env, name] as const],
    ),
  )("takes the variable %s for %s", (variable, name) => {
    const config = readConfig({ ...nothing, env: { [variable]: examples[name]?.text } });
    if (!isConfigName(name)) throw new Error(name);
    expect(config.values[name]).toEqual(examples[name]?.value);
    expect(config.origins[name]).toBe(variable);
  });

  it.each([
    ["1", true],
    ["0", false],
  ])("takes %s for a switch", (text, value) => {
    const { values } = readConfig({ ...nothing, env: { TRIVIUM_CRABCODE_TESTING: text } });
    expect(values["crabcode.testing"]).toBe(value);
  });

  it("lets flags win over the environment, that over the file, and the file over defaults", async () => {
    await using folder = await temporaryFolder();
    await writeFile(
      join(folder.path, "trivium.json"),
      '{\n  // comments are fine\n  "listen": "127.0.0.1:1",\n  "limits": { "drainMs": 5 },\n  "workspace": "ws",\n}',
    );
    const file = readConfig({ flags: [], env: {}, folder: folder.path });
    expect(file.values).toMatchObject({
      listen: "127.0.0.1:1",
      "limits.drainMs": 5,
      workspace: join(folder.path, "ws"),
    });
    expect(file.origins.listen).toBe(`${join(folder.path, "trivium.json")}:3`);
    const env = { TRIVIUM_LISTEN: "127.0.0.1:2" };
    expect(readConfig({ flags: [], env, folder: folder.path }).values.listen).toBe("127.0.0.1:2");
    const flags = [{ name: "listen", text: "127.0.0.1:3", flag: "--listen" }];
    expect(readConfig({ flags, env, folder: folder.path }).values.listen).toBe("127.0.0.1:3");
  });

  it("reads the file that --config or TRIVIUM_CONFIG names, and takes paths in it from its folder", async () => {
    await using folder = await temporaryFolder();
    const file = join(folder.path, "other.json");
    await writeFile(file, '{ "dataDir": "data" }');
    expect(readConfig({ ...nothing, file }).values.dataDir).toBe(join(folder.path, "data"));
    expect(readConfig({ ...nothing, env: { TRIVIUM_CONFIG: file } }).values.dataDir).toBe(
      join(folder.path, "data"),
    );
    expect(() => readConfig({ ...nothing, file: "missing.json" })).toThrow(/missing.json cannot be read/);
  });

  it.each([
    ['{ "listn": "x" }', /:1: there is no setting listn; did you mean listen/],
    [
      '{\n "limits": { "drainMss": 1 } }',
      /:2: there is no setting limits.drainMss; did you mean limits.drainMs/,
    ],
    ['{ "limits": 3 }', /there is no setting limits/],
    ['{ "limits": { "drainMs": "soon" } }', /limits.drainMs cannot be "soon"/],
    ["[]", /a configuration is an object/],
    ['{ "listen" "x" }', /:1: ColonExpected/],
  ])("refuses the file %s", async (text, message) => {
    await using folder = await temporaryFolder();
    await writeFile(join(folder.path, "trivium.json"), text);
    expect(() => readConfig({ flags: [], env: {}, folder: folder.path })).toThrow(message);
  });

  it("refuses an unknown name in --set and in the environment, and names the nearest", () => {
    expect(() => readConfig({ ...nothing, flags: [{ name: "toolz.x", text: "1", flag: "--set" }] })).toThrow(
      "--set: there is no setting toolz.x",
    );
    expect(() => readConfig({ ...nothing, env: { TRIVIUM_LISTN: "x" } })).toThrow(
      "there is no setting in the variable TRIVIUM_LISTN; did you mean TRIVIUM_LISTEN",
    );
  });

  it("never shows a secret in an error", () => {
    expect(() => readConfig({ ...nothing, flags: [{ name: "token", text: "", flag: "--set" }] })).toThrow(
      /^--set: token cannot be its value/,
    );
  });

  it("puts data below XDG_STATE_HOME and the workspace where npm start says", () => {
    const { values } = readConfig({
      ...nothing,
      env: { XDG_STATE_HOME: "/state", TRIVIUM_DEFAULT_WORKSPACE: "/repo/workspace" },
    });
    expect(values).toMatchObject({ dataDir: "/state/trivium", workspace: "/repo/workspace" });
  });
});
