import type { McpServerConfig } from "@trivium/mcp";
import type { LspServerConfig } from "./lsp/config/lsp-server-config.ts";

/** Settings of the tools runtime, one per key under `tools.` in the server's settings. */
export interface ToolSettings {
  /** How a logical failure (file missing, no match) is answered unless the call says otherwise. */
  readonly logicalErrors: "error" | "output";
  /** Folders that file tools may touch. Undefined: no limit. Empty: only the session's folder. Absolute paths. */
  readonly workspaceRoots: readonly string[] | undefined;
  /** A named session without calls and background work is closed after this time. */
  readonly sessionIdleMinutes: number;
  /** Commands that run at once on this server. */
  readonly maxConcurrentCommands: number;
  /** Environment of commands. */
  readonly environment: EnvironmentPolicy;
  /** Start shells as login shells. */
  readonly loginShell: boolean;
  /** Wrapper around commands. */
  readonly sandbox: "bwrap" | undefined;
  /** Commands inside the wrapper reach the network. */
  readonly sandboxNetwork: boolean;
  /** The ripgrep program to use instead of the one that comes with the package. Absolute path. */
  readonly rgPath: string | undefined;
  /** Which tools obey git's ignore rules. */
  readonly respectGitignore: "upstream" | "off" | "all";
  /** Add suggestions to "does not exist" texts. */
  readonly pathHints: boolean;
  /** Whether the content of written files goes to the client's callback service, up to 256 KiB a side. */
  readonly fileWrittenContent: "full" | "none";
  /** Read kinds of subagents from `.grok/agents` and `.claude/agents` of the project and the user. */
  readonly agentDefinitions: boolean;
  /** Documents with instructions that the model can load. */
  readonly skills: SkillSettings;
  /** Notes that the memory tools search. */
  readonly memory: MemorySettings;
  /** Run workflow scripts. In a running runtime: whether it has an engine for them and may use it. */
  readonly workflow: boolean;
  /** Somebody can answer questions while a tool waits. False: tools that would ask answer at once that nobody is there. */
  readonly answersQuestions: boolean;
  /** Servers of the Model Context Protocol by name; sessions with the tools for them start them. */
  readonly mcpServers: Readonly<Record<string, McpServerConfig>>;
  /** Servers that know programming languages. */
  readonly lsp: LspSettings;
  /** Fetching pages. */
  readonly webFetch: WebFetchSettings;
  /** Who searches the web. Undefined: nobody, the tool answers NOT_IMPLEMENTED. */
  readonly webSearch: WebSearchSettings | undefined;
  /** Who makes pictures and films. Undefined: nobody, the tools answer NOT_IMPLEMENTED. */
  readonly media: { readonly images: MediaSettings | undefined; readonly videos: MediaSettings | undefined };
}

/** Language servers besides those in the user's `~/.grok/lsp.json`. */
export interface LspSettings {
  /** By name. */
  readonly servers: Readonly<Record<string, LspServerConfig>>;
  /** Sessions in these folders, and below, also get the servers of their `.grok/lsp.json`. Real paths. */
  readonly trustedFolders: readonly string[];
}

/** Whether and how pages are fetched. What is undefined is as the params of `web_fetch` say. */
export interface WebFetchSettings {
  /** False: the tool answers NOT_IMPLEMENTED. */
  readonly enabled: boolean;
  readonly cacheTtlSecs?: number | undefined;
  readonly maxCacheEntries?: number | undefined;
  readonly timeoutSecs?: number | undefined;
  /** Bytes. */
  readonly maxContentLength?: number | undefined;
  /** Bytes. */
  readonly maxMarkdownLength?: number | undefined;
  readonly contextWindowTokens?: number | undefined;
  readonly allowedDomains?: readonly string[] | undefined;
  readonly proxyEndpoint?: string | undefined;
  readonly allowLocal?: boolean | undefined;
}

/** Where a key is. It is never part of the settings themselves. */
export interface KeySource {
  /** Environment variable that holds the key. No command gets it. */
  readonly apiKeyEnv?: string | undefined;
  /** File that holds the key and nothing else. Absolute path. */
  readonly apiKeyFile?: string | undefined;
}

/** The provider of searches. */
export type WebSearchSettings = SearchDomains &
  (
    | ({ readonly provider: "searxng"; readonly baseUrl: string } & KeySource)
    | ({ readonly provider: "brave"; readonly baseUrl?: string | undefined } & KeySource)
    | ({ readonly provider: "responses"; readonly baseUrl: string; readonly model: string } & KeySource)
    | { readonly provider: "command"; readonly argv: readonly string[] }
    | { readonly provider: "fixture"; readonly results: readonly SearchHit[] }
  );

/** Domains for all searches; they replace those a call asks for. The allowed ones win when both are given. */
export interface SearchDomains {
  readonly allowedDomains?: readonly string[] | undefined;
  readonly excludedDomains?: readonly string[] | undefined;
}

/** One result of a search. */
export interface SearchHit {
  readonly title: string;
  readonly url: string;
  readonly snippet: string;
}

/** An API for pictures or films in the style of OpenAI's. */
export interface MediaSettings extends KeySource {
  /** For example `https://api.x.ai/v1`. */
  readonly baseUrl: string;
  readonly model: string;
}

/** Where skills are looked for besides `.grok` and `.agents` of the project and the user. */
export interface SkillSettings {
  /** Also in `.claude` and `.cursor`, where other programs keep theirs. */
  readonly compat: boolean;
  /** Further folders with `skills/` and `commands/`, for all sessions. Absolute. */
  readonly folders: readonly string[];
}

/** Where notes are kept besides the project and the session. */
export interface MemorySettings {
  /** False: the memory tools answer NOT_IMPLEMENTED. */
  readonly enabled: boolean;
  /** Folder with notes for all sessions, absolute. */
  readonly globalDir: string | undefined;
}

/** Which variables a command inherits. Names in `exclude` and `includeOnly` are patterns with `*`. */
export interface EnvironmentPolicy {
  readonly inherit: "core" | "all" | "none";
  readonly exclude: readonly string[];
  readonly set: Readonly<Record<string, string>>;
  /** Empty: no further restriction. */
  readonly includeOnly: readonly string[];
  /** Also pass on names that look like secrets. */
  readonly ignoreDefaultExcludes: boolean;
}

/** What applies when the server's settings say nothing. */
export const defaultToolSettings: ToolSettings = {
  logicalErrors: "error",
  workspaceRoots: undefined,
  sessionIdleMinutes: 60,
  maxConcurrentCommands: 32,
  environment: { inherit: "core", exclude: [], set: {}, includeOnly: [], ignoreDefaultExcludes: false },
  loginShell: false,
  sandbox: undefined,
  sandboxNetwork: false,
  rgPath: undefined,
  respectGitignore: "upstream",
  pathHints: true,
  fileWrittenContent: "full",
  agentDefinitions: false,
  skills: { compat: true, folders: [] },
  memory: { enabled: true, globalDir: undefined },
  workflow: true,
  answersQuestions: false,
  mcpServers: {},
  lsp: { servers: {}, trustedFolders: [] },
  webFetch: { enabled: true },
  webSearch: undefined,
  media: { images: undefined, videos: undefined },
};
