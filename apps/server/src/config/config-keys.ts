import { z } from "zod";
import { codeModeKeys } from "./code-mode-keys.ts";
import { key } from "./config-key.ts";
import { lspServersSchema } from "./lsp-server-schema.ts";
import { mcpServersSchema } from "./mcp-server-schema.ts";
import { mediaApi, webSearch } from "./web-schemas.ts";

const MiB = 1024 * 1024;
const positive = z.int().positive();
const optionalText = z.string().min(1).optional();
const services = ["grok-tools", "code-mode", "crabcode"] as const;

/** Every setting of `trivium.json`, by its dotted name. */
export const configKeys = {
  listen: key({
    schema: z.string(),
    default: "127.0.0.1:7411",
    env: "TRIVIUM_LISTEN",
    description: "Address and port of the one listener, HOST:PORT; port 0 takes a free one and prints it.",
  }),
  workspace: key({
    schema: z.string().min(1),
    default: ".",
    env: "TRIVIUM_WORKSPACE",
    isPath: true,
    description: "Folder the tools and agents work in. Default: the folder the command is run in.",
  }),
  dataDir: key({
    schema: z.string().min(1),
    default: "",
    env: "TRIVIUM_DATA_DIR",
    isPath: true,
    description:
      "Folder for sessions, logs and databases. Default: trivium in $XDG_STATE_HOME or ~/.local/state.",
  }),
  token: key({
    schema: z.string().min(1).optional(),
    default: undefined,
    env: "TRIVIUM_TOKEN",
    isSecret: true,
    description: "Bearer token every call must carry. Required when the listener is not on loopback.",
  }),
  allowedOrigins: key({
    schema: z.array(z.string()),
    default: [],
    env: "TRIVIUM_ALLOWED_ORIGINS",
    description:
      "Web origins besides the server's own whose pages may call it, for example https://dash.example.",
  }),
  allowedHosts: key({
    schema: z.array(z.string()),
    default: [],
    description:
      "Names besides the listener's own that the Host header may carry, for example behind a proxy.",
  }),
  "tls.cert": key({
    schema: optionalText,
    default: undefined,
    isPath: true,
    description: "File with the certificate chain (PEM). With it and tls.key the port speaks TLS only.",
  }),
  "tls.key": key({
    schema: optionalText,
    default: undefined,
    isPath: true,
    description: "File with the private key (PEM).",
  }),
  "tls.clientCa": key({
    schema: optionalText,
    default: undefined,
    isPath: true,
    description:
      "File with the authorities (PEM) that sign client certificates. With it every client needs one.",
  }),
  services: key({
    schema: z.array(z.enum(services)).min(1),
    default: [...services],
    description: "Which services the server offers.",
  }),
  models: key({
    schema: z.record(z.string(), z.record(z.string(), z.unknown())),
    default: {},
    description: "Model profiles by name: provider, model, baseUrl, apiKeyEnv and so on; see docs/models.md.",
  }),
  defaultModel: key({
    schema: optionalText,
    default: undefined,
    description: "Name of the profile new sessions use. Without one: the labelled offline model.",
  }),
  ...codeModeKeys,
  "limits.requestBytes": key({
    schema: positive,
    default: 16 * MiB,
    description: "Largest request message. The code-mode service has its own limit of 64 MiB.",
  }),
  "limits.connectionBytes": key({
    schema: positive,
    default: 64 * MiB,
    description: "Unread request bytes one connection may hold.",
  }),
  "limits.totalBytes": key({
    schema: positive,
    default: 256 * MiB,
    description: "Unread request bytes all connections together may hold.",
  }),
  "limits.headerBytes": key({
    schema: positive,
    default: 64 * 1024,
    description: "Largest list of request headers.",
  }),
  "limits.streamsPerConnection": key({
    schema: positive,
    default: 1_000,
    description: "Concurrent calls on one HTTP/2 connection.",
  }),
  "limits.drainMs": key({
    schema: positive,
    default: 10_000,
    description: "How long calls may finish after SIGTERM before they are ended with UNAVAILABLE.",
  }),
  "tools.logicalErrors": key({
    schema: z.enum(["error", "output"]),
    default: "error",
    description:
      "How a tool reports a missing file and the like: as an error, or as a variant of its output.",
  }),
  "tools.workspaceRoots": key({
    schema: z.array(z.string()).optional(),
    default: undefined,
    description:
      "Folders file tools must stay in. Unset: no restriction. Empty list: the session's own folder.",
  }),
  "tools.sessionIdleMinutes": key({
    schema: z.number().positive(),
    default: 60,
    description: "A named tool session without calls and running commands is closed after this time.",
  }),
  "tools.maxConcurrentCommands": key({
    schema: positive,
    default: 32,
    description: "Commands that run at once; later ones wait.",
  }),
  "tools.environment": key({
    schema: z.strictObject({
      inherit: z.enum(["core", "all", "none"]).default("core"),
      exclude: z.array(z.string()).default([]),
      set: z.record(z.string(), z.string()).default({}),
      includeOnly: z.array(z.string()).default([]),
      ignoreDefaultExcludes: z.boolean().default(false),
    }),
    default: { inherit: "core", exclude: [], set: {}, includeOnly: [], ignoreDefaultExcludes: false },
    description:
      "Environment of commands: inherit core variables, all or none; patterns to exclude or keep; variables to set.",
  }),
  "tools.loginShell": key({
    schema: z.boolean(),
    default: false,
    description: "Whether commands see the environment a login shell would have.",
  }),
  "tools.sandbox": key({
    schema: z.enum(["bwrap"]).optional(),
    default: undefined,
    description:
      "bwrap: commands run inside bubblewrap, where only the session's folders can be written. Without a working bubblewrap they are refused.",
  }),
  "tools.sandboxNetwork": key({
    schema: z.boolean(),
    default: false,
    description: "Commands inside bubblewrap reach the network.",
  }),
  "tools.rgPath": key({
    schema: optionalText,
    default: undefined,
    isPath: true,
    description: "ripgrep to use instead of the one that comes with the server.",
  }),
  "tools.respectGitignore": key({
    schema: z.enum(["upstream", "off", "all"]),
    default: "upstream",
    description: "Which tools obey ignore rules: those that did originally, none, or all.",
  }),
  "tools.pathHints": key({
    schema: z.boolean(),
    default: true,
    description: "Whether errors about missing files suggest similar ones.",
  }),
  "tools.fileWrittenContent": key({
    schema: z.enum(["full", "none"]),
    default: "full",
    description:
      "Whether notifications about written files carry their content, up to 256 KiB before and after.",
  }),
  "tools.agentDefinitions": key({
    schema: z.boolean(),
    default: false,
    description:
      "Whether .grok/agents and .claude/agents of the project and the user define kinds of subagents.",
  }),
  "tools.skills.compat": key({
    schema: z.boolean(),
    default: true,
    description: "Whether skills in .claude and .cursor count too, where other programs keep theirs.",
  }),
  "tools.skills.folders": key({
    schema: z.array(z.string().startsWith("/", "an absolute path")),
    default: [],
    description: "Further folders with skills/ and commands/ for every tool session.",
  }),
  "callbacks.required": key({
    schema: z.boolean(),
    default: false,
    description:
      "Whether configuring a tool session fails when the client's callback service cannot be reached.",
  }),
  "callbacks.allowInsecure": key({
    schema: z.boolean(),
    default: false,
    description: "Whether secrets of callback services may go over http to another machine.",
  }),
  "callbacks.allowHosts": key({
    schema: z.array(z.string().min(1)),
    default: [],
    description:
      "Hosts besides this machine whose callback services may be called: names or addresses, with or without a port.",
  }),
  "tools.memory.enabled": key({
    schema: z.boolean(),
    default: true,
    description: "Whether tools search the notes in .grok/memory and the session's folder.",
  }),
  "tools.memory.globalDir": key({
    schema: optionalText,
    default: undefined,
    isPath: true,
    description: "Folder with notes that every tool session can search.",
  }),
  "tools.mcpServers": key({
    schema: mcpServersSchema,
    default: {},
    // Variables and headers hold tokens.
    isSecret: true,
    description:
      "MCP servers by name: command, args and env, or url and headers; time-outs in milliseconds. See docs/grok-tools.md.",
  }),
  "tools.lsp.servers": key({
    schema: lspServersSchema,
    default: {},
    // Variables and settings may hold tokens.
    isSecret: true,
    description:
      "Language servers by name: command, args and extensions with their languages; see docs/grok-tools.md.",
  }),
  "tools.lsp.trustedFolders": key({
    schema: z.array(z.string().startsWith("/", "an absolute path")),
    default: [],
    description:
      "Folders whose projects may start the language servers of their own .grok/lsp.json, with those below them.",
  }),
  "tools.workflow": key({
    schema: z.boolean(),
    default: true,
    description: "Whether tools run workflow scripts. Needs the code-mode service.",
  }),
  "tools.webFetch.enabled": key({
    schema: z.boolean(),
    default: true,
    description: "Whether web_fetch may fetch pages.",
  }),
  "tools.webFetch.allowedDomains": key({
    schema: z.array(z.string()).optional(),
    default: undefined,
    description:
      "Hosts web_fetch may fetch where a session names none; * for all. Default: sites with documentation.",
  }),
  "tools.webFetch.allowLocal": key({
    schema: z.boolean().optional(),
    default: undefined,
    description: "Whether web_fetch may fetch from localhost where a session does not say. Default: no.",
  }),
  "tools.webFetch.proxyEndpoint": key({
    schema: z.url({ protocol: /^https?$/ }).optional(),
    default: undefined,
    isSecret: true,
    description: "Proxy for web_fetch, http:// or https://; it must open tunnels to addresses.",
  }),
  "tools.webFetch.timeoutSecs": key({
    schema: z.int().min(1).max(3600).optional(),
    default: undefined,
    description: "Seconds a page may take, redirects included. Default: 60.",
  }),
  "tools.webFetch.cacheTtlSecs": key({
    schema: z.int().nonnegative().optional(),
    default: undefined,
    description: "Seconds a fetched page is served from memory. Default: 900.",
  }),
  "tools.webFetch.maxCacheEntries": key({
    schema: z.int().nonnegative().max(10_000).optional(),
    default: undefined,
    description: "Fetched pages a session keeps in memory. Default: 128.",
  }),
  "tools.webFetch.maxContentLength": key({
    schema: positive.max(256 * MiB).optional(),
    default: undefined,
    description: "Largest page in bytes, inflated. Default: 10 MiB.",
  }),
  "tools.webFetch.maxMarkdownLength": key({
    schema: positive.max(16 * MiB).optional(),
    default: undefined,
    description: "Bytes of a page in the structured output. Default: 100000.",
  }),
  "tools.webFetch.contextWindowTokens": key({
    schema: positive.optional(),
    default: undefined,
    description: "Context of the model; 3 % of it, in characters, are shown of a page. Default: 128000.",
  }),
  "tools.webSearch": key({
    schema: webSearch.optional(),
    default: undefined,
    description:
      "Who searches the web: searxng, brave, responses, command or fixture; see docs/grok-tools.md.",
  }),
  "tools.media.images": key({
    schema: mediaApi.optional(),
    default: undefined,
    description: "API that makes pictures: baseUrl, model and where its key is (apiKeyEnv or apiKeyFile).",
  }),
  "tools.media.videos": key({
    schema: mediaApi.optional(),
    default: undefined,
    description: "API that makes films: baseUrl, model and where its key is (apiKeyEnv or apiKeyFile).",
  }),
  "crabcode.resumeDefaultSession": key({
    schema: z.boolean(),
    default: true,
    description: "Whether the default conversation goes on after a restart.",
  }),
  "crabcode.rejoinGraceSeconds": key({
    schema: z.number().nonnegative(),
    default: 30,
    description: "How long a turn with an idempotency key waits for a client whose connection was lost.",
  }),
  "crabcode.maxQueuedMessages": key({
    schema: positive,
    default: 8,
    description: "Messages that may wait for a running turn of their session.",
  }),
  "crabcode.eventLog.maxEvents": key({
    schema: positive,
    default: 100_000,
    description: "Events kept per session.",
  }),
  "crabcode.eventLog.maxBytes": key({
    schema: positive,
    default: 64 * MiB,
    description: "Bytes of events kept per session.",
  }),
  "crabcode.eventLog.maxAgeDays": key({
    schema: z.number().positive(),
    default: 7,
    description: "Days events are kept.",
  }),
  "crabcode.settingsFile": key({
    schema: optionalText,
    default: undefined,
    env: "TRIVIUM_CRABCODE_SETTINGS",
    isPath: true,
    description: "A further settings.json for crabcode sessions; see docs/crabcode.md.",
  }),
  "crabcode.testing": key({
    schema: z.boolean(),
    default: false,
    env: "TRIVIUM_CRABCODE_TESTING",
    description: "Allows the script model, which plays a file. For tests of clients only.",
  }),
  "log.level": key({
    schema: z.enum(["debug", "info", "warn", "error"]),
    default: "info",
    env: "TRIVIUM_LOG_LEVEL",
    description: "What the server's log on standard error says.",
  }),
};

/** The names of all settings. */
export type ConfigName = keyof typeof configKeys;

/** Every setting with its value. */
export type ConfigValues = {
  readonly [Name in ConfigName]: z.output<(typeof configKeys)[Name]["schema"]>;
};

/** True for the dotted name of a setting. */
export function isConfigName(name: string): name is ConfigName {
  return Object.hasOwn(configKeys, name);
}
