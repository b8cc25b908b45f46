import { readFileSync } from "node:fs";

/** The cases of the crabcode contract. The file is data: its field names are kept. Format: vectors/README.md. */
export interface VectorFile {
  readonly format: "trivium-crabcode-vectors/2";
  readonly events: readonly EventExample[];
  readonly conversations: readonly Conversation[];
  readonly rpc_errors: readonly StatusCase[];
  readonly estimator: readonly { readonly text_repeat: readonly [string, number]; readonly tokens: number }[];
  readonly permission_keys: readonly {
    readonly tool: string;
    readonly input: Json;
    readonly key: Matcher;
  }[];
  readonly permission_cases: readonly PermissionCase[];
}

export type Json = Readonly<Record<string, unknown>>;
/** A value, or what one must be like; see matcher.ts. */
export type Matcher = unknown;

/** One complete payload, without what the stream adds. */
export interface EventExample {
  readonly type: string;
  readonly source: string;
  readonly tier: 1 | 2 | 3;
  readonly payload: Json;
}

/** One call whose status is known. */
export interface StatusCase {
  readonly name: string;
  /** What must be so before the call, in words; see status-states.ts. */
  readonly state: string;
  readonly rpc: RpcName;
  readonly request: Json;
  readonly metadata?: Readonly<Record<string, string>>;
  readonly expect_code: string;
  readonly expect_reason?: string;
}

/** What becomes of one call under rules, mode and grants. */
export interface PermissionCase {
  readonly name: string;
  readonly settings: Json;
  readonly mode: string;
  readonly granted: readonly string[];
  readonly tool: string;
  readonly input: Json;
  readonly expect: "allow" | "ask" | "deny";
}

/** A model that plays a script, a client that plays its actions, and what is to be seen. */
export interface Conversation {
  readonly name: string;
  readonly tier: 1 | 2 | 3;
  readonly note?: string;
  readonly setup: ConversationSetup;
  readonly model_script: readonly ScriptEntry[];
  readonly client_actions: readonly Action[];
  readonly expect_events: Readonly<Record<string, readonly Matcher[]>>;
  readonly expect_after?: readonly AfterCheck[];
}

export interface ConversationSetup {
  readonly settings?: Json;
  readonly files?: Readonly<Record<string, string>>;
  readonly model?: "offline";
  readonly isolated?: boolean;
}

/** The keys of a script file, see the script model; only those that the runner reads are named. */
export interface ScriptEntry extends Json {
  readonly agent?: number;
}

export type RpcName =
  | "SendMessage"
  | "SubscribeEvents"
  | "SpawnAgent"
  | "GetAgent"
  | "ListAgents"
  | "CancelAgent"
  | "WaitAgent"
  | "RespondPermission"
  | "RespondChoice"
  | "ListModels"
  | "SwitchModel"
  | "SwitchMode"
  | "HealthCheck";

/** An event to be waited for. */
export interface EventWait {
  readonly stream: string;
  readonly type?: string;
  readonly match?: Matcher;
  readonly nth?: number;
}

export interface CallAction {
  readonly rpc: RpcName;
  readonly request: Json;
  readonly metadata?: Readonly<Record<string, string>>;
  readonly as?: string;
  readonly match?: Matcher;
  readonly expect_code?: string;
  readonly expect_reason?: string;
}

export type Action = { readonly when?: EventWait } & (
  | CallAction
  | { readonly cancel: string }
  | { readonly wait: EventWait & { readonly headers?: true; readonly end?: true } }
  | { readonly release: string }
  | { readonly pause_ms: number }
  | { readonly restart: "SIGKILL" | "SIGTERM" }
);

export type HistoryCheck =
  | "last_tool_result_message_order"
  | "every_tool_use_has_one_tool_result"
  | "last_user_message_contains"
  | "contains_assistant_text_prefix"
  | "no_message_contains"
  | "message_count";

export type AfterCheck =
  | { readonly rpc: RpcName; readonly request: Json; readonly match: Matcher }
  | { readonly check_file: string; readonly content?: string; readonly exists?: boolean }
  | { readonly check_mode: "agent" | "plan" }
  | {
      readonly check_model_request: number;
      readonly contains?: string;
      readonly not_contains?: string;
      readonly model?: string;
    }
  | {
      readonly check_history: HistoryCheck;
      readonly ids?: readonly string[];
      readonly role?: "user" | "assistant";
      readonly value?: string | number;
    }
  | { readonly check_processes: "no_child_left" };

/** Reads the file of cases. */
export function readVectors(): VectorFile {
  const file = new URL("../../vectors/crabcode-events.json", import.meta.url);
  return JSON.parse(readFileSync(file, "utf8")) as VectorFile;
}

/** Everything the runner reads, by what it is a key of. Keys of events, requests and settings are not the runner's. */
export const knownKeys: Readonly<Record<string, ReadonlySet<string>>> = {
  file: new Set([
    "format",
    "about",
    "defaults",
    "events",
    "conversations",
    "rpc_errors",
    "estimator",
    "permission_keys",
    "permission_cases",
  ]),
  conversation: new Set([
    "name",
    "tier",
    "note",
    "setup",
    "model_script",
    "client_actions",
    "expect_events",
    "expect_after",
  ]),
  setup: new Set(["settings", "files", "model", "isolated"]),
  action: new Set([
    "when",
    "rpc",
    "request",
    "metadata",
    "as",
    "match",
    "expect_code",
    "expect_reason",
    "cancel",
    "wait",
    "release",
    "pause_ms",
    "restart",
  ]),
  wait: new Set(["stream", "type", "match", "nth", "headers", "end"]),
  after: new Set([
    "rpc",
    "request",
    "match",
    "check_file",
    "content",
    "exists",
    "check_mode",
    "check_model_request",
    "contains",
    "not_contains",
    "model",
    "check_history",
    "ids",
    "role",
    "value",
    "check_processes",
  ]),
  status: new Set(["name", "state", "rpc", "request", "metadata", "expect_code", "expect_reason"]),
};
