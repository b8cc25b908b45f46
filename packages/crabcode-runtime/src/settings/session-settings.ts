import { z } from "zod";
import { type AgentSettings, agentSettings } from "./agent-settings.ts";
import { type CodeSettings, codeSettings } from "./code-settings.ts";
import { type HookSettings, hookSettings } from "./hook-settings.ts";
import type { ModelSettings } from "./model-settings.ts";
import { type PromptProfile, promptProfile } from "./prompt-profile.ts";
import { type ToolSettings, toolSettings } from "./tool-settings.ts";

/** How calls are decided that no rule decides. */
export type PermissionMode = "default" | "acceptEdits" | "bypassPermissions" | "dontAsk" | "plan";

/** A rule fits a call when all its keys do. */
export interface PermissionRule {
  /** Name of a tool; `*` stands for any characters. */
  readonly tool: string;
  /** Fits the absolute path or the one relative to the session's folder. */
  readonly path?: string | undefined;
  readonly command?: string | undefined;
}

/** The `permissions` object of the settings, ready for use. */
export interface PermissionSettings {
  readonly mode: PermissionMode;
  readonly allow: readonly PermissionRule[];
  readonly deny: readonly PermissionRule[];
  readonly ask: readonly PermissionRule[];
  readonly additionalDirectories: readonly string[];
  /** How long a question waits; 0 is for ever. */
  readonly requestTimeoutMs: number;
}

/** When a history is compacted. */
export interface CompactionSettings {
  /** False: only when somebody asks for it. */
  readonly isAutomatic: boolean;
  /** Tokens of a request from which on it is. Undefined: what the window of the model leaves. */
  readonly maxContextTokens: number | undefined;
}

/** Settings of one session. */
export interface SessionSettings {
  readonly models: ModelSettings;
  readonly permissions: PermissionSettings;
  readonly agents: AgentSettings;
  readonly code: CodeSettings;
  /** MCP servers by name, as they are written. */
  readonly mcpServers: Readonly<Record<string, unknown>>;
  /** The files of the folder may set what only trusted ones may. */
  readonly isTrustedFolder: boolean;
  readonly hooks: HookSettings;
  readonly compaction: CompactionSettings;
  /** Variables for commands. */
  readonly environment: Readonly<Record<string, string>>;
  /** Which mode switches a tool may bring about by itself. */
  readonly autoApplyModes: "restrictive" | "none" | "all";
  readonly promptProfile: PromptProfile;
  /** Language of the answers, when set. */
  readonly language: string | undefined;
  /** Longest run of one tool call; 0 is no limit. */
  readonly toolCallTimeoutMs: number;
  readonly tools: ToolSettings;
  /** Only lowers the server's. */
  readonly eventLog: { readonly maxEvents?: number; readonly maxBytes?: number; readonly maxAgeMs?: number };
}

const DEFAULT_REQUEST_TIMEOUT_SECONDS = 1800;
const MAX_REQUEST_TIMEOUT_SECONDS = 31_536_000;
const MS_PER_DAY = 86_400_000;

const apiConfig = z.record(z.string(), z.unknown()).catch({});
const rule = z.object({
  tool: z.string(),
  path: z.string().optional(),
  command: z.string().optional(),
});
// A rule that cannot be read is dropped, the others stay.
const rules = z
  .array(z.unknown())
  .catch([])
  .transform((items) => items.flatMap((item) => rule.safeParse(item).data ?? []));

const permissions = z
  .object({
    allow: rules,
    deny: rules,
    ask: rules,
    default_mode: z.string().optional().catch(undefined),
    additional_directories: z.array(z.string()).catch([]),
    run_everything: z.boolean().catch(false),
    request_timeout_seconds: z
      .number()
      .min(0)
      .max(MAX_REQUEST_TIMEOUT_SECONDS)
      .catch(DEFAULT_REQUEST_TIMEOUT_SECONDS),
  })
  .catch({
    allow: [],
    deny: [],
    ask: [],
    default_mode: undefined,
    additional_directories: [],
    run_everything: false,
    request_timeout_seconds: DEFAULT_REQUEST_TIMEOUT_SECONDS,
  });

const settingsFile = z.object({
  api: apiConfig,
  models: z.record(z.string(), apiConfig).catch({}),
  default_model: z.string().optional().catch(undefined),
  env: z.record(z.string(), z.string()).catch({}),
  permissions,
  agent: agentSettings,
  modes: z.object({ auto_apply: z.enum(["restrictive", "none", "all"]).catch("restrictive") }).catch({
    auto_apply: "restrictive",
  }),
  code: codeSettings,
  mcp_servers: z.record(z.string(), z.unknown()).catch({}),
  hooks: hookSettings,
  auto_compact_enabled: z.boolean().catch(true),
  max_context_length: z.int().positive().optional().catch(undefined),
  prompt_profile: promptProfile,
  language: z.string().optional().catch(undefined),
  tool_call_timeout: z.number().positive().optional().catch(undefined),
  tool_settings: toolSettings,
  event_log: z
    .object({
      max_events: z.int().min(16).optional().catch(undefined),
      max_bytes: z.int().positive().optional().catch(undefined),
      max_age_days: z.number().positive().optional().catch(undefined),
    })
    .catch({}),
});

const MODES: Readonly<Record<string, PermissionMode>> = {
  ask: "default",
  acceptEdits: "acceptEdits",
  bypassPermissions: "bypassPermissions",
  run_everything: "bypassPermissions",
  dontAsk: "dontAsk",
};

/** Makes settings out of the merged files. A value that cannot be used counts as absent. */
export function parseSessionSettings(
  merged: Readonly<Record<string, unknown>>,
  { isTrustedFolder }: Pick<SessionSettings, "isTrustedFolder"> = { isTrustedFolder: false },
): SessionSettings {
  const file = settingsFile.parse(merged);
  const { max_events, max_bytes, max_age_days } = file.event_log;
  return {
    models: {
      api: file.api,
      models: file.models,
      ...(file.default_model !== undefined && { defaultModel: file.default_model }),
    },
    permissions: {
      mode: file.permissions.run_everything
        ? "bypassPermissions"
        : (MODES[file.permissions.default_mode ?? "ask"] ?? "default"),
      allow: file.permissions.allow,
      deny: file.permissions.deny,
      ask: file.permissions.ask,
      additionalDirectories: file.permissions.additional_directories,
      requestTimeoutMs: file.permissions.request_timeout_seconds * 1000,
    },
    agents: file.agent,
    code: file.code,
    mcpServers: file.mcp_servers,
    isTrustedFolder,
    hooks: file.hooks,
    compaction: {
      isAutomatic: file.auto_compact_enabled,
      maxContextTokens: file.max_context_length,
    },
    environment: file.env,
    autoApplyModes: file.modes.auto_apply,
    promptProfile: file.prompt_profile,
    language: file.language,
    toolCallTimeoutMs: (file.tool_call_timeout ?? 0) * 1000,
    tools: file.tool_settings,
    eventLog: {
      ...(max_events !== undefined && { maxEvents: max_events }),
      ...(max_bytes !== undefined && { maxBytes: max_bytes }),
      ...(max_age_days !== undefined && { maxAgeMs: max_age_days * MS_PER_DAY }),
    },
  };
}
