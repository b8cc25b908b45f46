import type { JsonValue } from "@trivium/rpc";
import type { FieldReader } from "./notification-fields.ts";
import {
  readBoolean,
  readBytes,
  readDuration,
  readJson,
  readNumber,
  readText,
  readTime,
} from "./notification-fields.ts";

/** What the tools of a session tell while they work. `tool_call_id` is the id of the call that caused it. */
export type ToolNotification = KnownNotification | UnknownNotification;

/** One of a type this package does not know, or one that does not have what its type promises. */
export interface UnknownNotification {
  readonly type: "unknown";
  /** The notification as it came. */
  readonly raw: JsonValue;
}

/** A piece of a running command's output, and the facts of its run. */
export interface BashOutput {
  readonly toolCallId: string;
  readonly command: string;
  readonly output: Uint8Array;
  /** Bytes the command has written in all. */
  readonly totalBytes: number;
  readonly truncated: boolean;
  readonly cwd: string;
}

/** A background command that has ended. */
export interface TaskSnapshot {
  readonly taskId: string;
  readonly command: string;
  readonly displayCommand?: string;
  readonly cwd: string;
  /** Milliseconds since the epoch. */
  readonly startTimeMs: number;
  readonly endTimeMs: number | null;
  readonly output: string;
  readonly outputFile: string;
  readonly truncated: boolean;
  readonly outputTotalBytes: number;
  readonly exitCode: number | null;
  readonly signal: string | null;
  readonly completed: boolean;
  readonly kind: "bash" | "monitor";
  readonly blockWaited: boolean;
  readonly explicitlyKilled: boolean;
  readonly killResultDelivered: boolean;
  readonly ownerSessionId?: string;
  readonly description?: string;
  readonly isBackgrounded: boolean;
}

interface ScheduledTask {
  readonly taskId: string;
  readonly generation: string;
  readonly revision: number;
}

interface ScheduledPrompt extends ScheduledTask {
  readonly prompt: string;
  readonly humanSchedule: string;
  /** RFC 3339. */
  readonly nextFireAt: string | null;
}

/** The notifications of this version of the contract, by type. */
export type KnownNotification =
  | (BashOutput & { readonly type: "BashOutputChunk" })
  | (BashOutput & {
      readonly type: "BashExecutionComplete";
      readonly exitCode: number | null;
      readonly signal: string | null;
    })
  | (BashOutput & {
      readonly type: "BashExecutionTimeout";
      readonly elapsedMs: number;
      readonly timeoutMs: number;
    })
  | (BashOutput & {
      readonly type: "BashExecutionBackgrounded";
      readonly outputFile: string;
      readonly taskId: string;
      /** Present: the task is a monitor. */
      readonly monitorDescription?: string;
      readonly description?: string;
    })
  | {
      readonly type: "BashExecutionFailed";
      readonly toolCallId: string;
      readonly command: string;
      readonly cwd: string;
      readonly error: string;
    }
  | {
      readonly type: "FileWritten";
      readonly toolCallId: string;
      readonly absolutePath: string;
      readonly content: string;
      /** Null: the file is new. */
      readonly previousContent: string | null;
      readonly isNewFile: boolean;
      /** True: a side was cut, or left out. */
      readonly contentTruncated?: boolean;
    }
  | (TaskSnapshot & { readonly type: "TaskCompleted" })
  | {
      readonly type: "SubagentCompleted";
      readonly subagentId: string;
      readonly subagentType: string;
      readonly description: string;
      readonly status: "completed" | "failed" | "cancelled";
      readonly error: string | null;
      readonly durationMs: number;
      readonly ownerSessionId: string | null;
    }
  | { readonly type: "PlanModeEntered"; readonly toolCallId: string }
  | {
      readonly type: "PlanModeExited";
      readonly toolCallId: string;
      readonly planContent: string | null;
      readonly planFilePath: string;
    }
  | { readonly type: "UserQuestionAsked"; readonly toolCallId: string; readonly questionsJson: JsonValue }
  | { readonly type: "LspServerStarting"; readonly serverName: string; readonly command: string }
  | { readonly type: "LspServerReady"; readonly serverName: string }
  | { readonly type: "LspServerCrashed"; readonly serverName: string }
  | {
      readonly type: "LspServerRetrying";
      readonly serverName: string;
      readonly attempt: number;
      readonly maxRestarts: number;
      readonly backoffMs: number;
    }
  | {
      readonly type: "LspServerFailed";
      readonly serverName: string;
      readonly error: string;
      /** 0: it never started. */
      readonly attempts: number;
    }
  | (ScheduledPrompt & { readonly type: "ScheduledTaskFired"; readonly subagentId: string | null })
  | (ScheduledTask & {
      readonly type: "ScheduledTaskRemoved";
      readonly reason: "completed" | "expired" | "deleted" | "shutdown" | "unknown";
    })
  | (ScheduledPrompt & { readonly type: "ScheduledTaskCreated" })
  | {
      readonly type: "MonitorEvent";
      readonly taskId: string;
      readonly description: string;
      /** Wrapped in `<monitor-event>` tags. */
      readonly eventText: string;
      readonly rawText: string;
      readonly ownerSessionId: string | null;
    };

/** Wire key → reader; `?` after a key: it may be absent, `|null`: it may be null. */
type Fields = Readonly<Record<string, FieldReader>>;

const call: Fields = { tool_call_id: readText };
const bash: Fields = {
  ...call,
  command: readText,
  output: readBytes,
  total_bytes: readNumber,
  truncated: readBoolean,
  cwd: readText,
};
const scheduled: Fields = { task_id: readText, generation: readText, revision: readNumber };
const prompt: Fields = {
  ...scheduled,
  prompt: readText,
  human_schedule: readText,
  "next_fire_at|null": readText,
};
const server: Fields = { server_name: readText };

const fieldsOfType: Readonly<Record<KnownNotification["type"], Fields>> = {
  BashOutputChunk: bash,
  BashExecutionComplete: { ...bash, "exit_code|null": readNumber, "signal|null": readText },
  BashExecutionTimeout: { ...bash, elapsed: readDuration, timeout: readDuration },
  BashExecutionBackgrounded: {
    ...bash,
    output_file: readText,
    task_id: readText,
    "monitor_description?": readText,
    "description?": readText,
  },
  BashExecutionFailed: { ...call, command: readText, cwd: readText, error: readText },
  FileWritten: {
    ...call,
    absolute_path: readText,
    content: readText,
    "previous_content|null": readText,
    is_new_file: readBoolean,
    "content_truncated?": readBoolean,
  },
  TaskCompleted: {
    task_id: readText,
    command: readText,
    "display_command?": readText,
    cwd: readText,
    start_time: readTime,
    "end_time|null": readTime,
    output: readText,
    output_file: readText,
    truncated: readBoolean,
    output_total_bytes: readNumber,
    "exit_code|null": readNumber,
    "signal|null": readText,
    completed: readBoolean,
    kind: readText,
    block_waited: readBoolean,
    explicitly_killed: readBoolean,
    kill_result_delivered: readBoolean,
    "owner_session_id?": readText,
    "description?": readText,
    is_backgrounded: readBoolean,
  },
  SubagentCompleted: {
    subagent_id: readText,
    subagent_type: readText,
    description: readText,
    status: readText,
    "error|null": readText,
    duration_ms: readNumber,
    "owner_session_id|null": readText,
  },
  PlanModeEntered: call,
  PlanModeExited: { ...call, "plan_content|null": readText, plan_file_path: readText },
  UserQuestionAsked: { ...call, questions_json: readJson },
  LspServerStarting: { ...server, command: readText },
  LspServerReady: server,
  LspServerCrashed: server,
  LspServerRetrying: { ...server, attempt: readNumber, max_restarts: readNumber, backoff_ms: readNumber },
  LspServerFailed: { ...server, error: readText, attempts: readNumber },
  ScheduledTaskFired: { ...prompt, "subagent_id|null": readText },
  ScheduledTaskRemoved: { ...scheduled, reason: readText },
  ScheduledTaskCreated: prompt,
  MonitorEvent: {
    task_id: readText,
    description: readText,
    event_text: readText,
    raw_text: readText,
    "owner_session_id|null": readText,
  },
};

const removalReasons: readonly unknown[] = ["completed", "expired", "deleted", "shutdown"];

/** Reads the JSON text of a notification. Unknown types and keys are no error: servers of later versions have more. */
export function parseNotification(json: string): ToolNotification {
  let raw: JsonValue;
  try {
    // JSON.parse gives nothing else.
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion
    raw = JSON.parse(json) as JsonValue;
  } catch {
    // What is no JSON is at least its text.
    return { type: "unknown", raw: json };
  }
  return typedOf(raw) ?? { type: "unknown", raw };
}

function typedOf(raw: JsonValue): KnownNotification | undefined {
  if (typeof raw !== "object" || raw === null || Array.isArray(raw)) return undefined;
  const { type } = raw;
  if (typeof type !== "string" || !Object.hasOwn(fieldsOfType, type)) return undefined;
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- looked up one line above
  const fields = fieldsOfType[type as KnownNotification["type"]];
  const typed: Record<string, unknown> = { type };
  for (const [declared, read] of Object.entries(fields)) {
    const key = declared.replace(/\?$|\|null$/, "");
    const value = raw[key];
    if (value === undefined && declared.endsWith("?")) continue;
    const isNull = (value ?? null) === null && declared.endsWith("|null");
    const field = isNull ? null : value === undefined ? undefined : read(value);
    if (field === undefined) return undefined;
    typed[nameOf(key, read)] = field;
  }
  if (type === "ScheduledTaskRemoved" && !removalReasons.includes(typed["reason"]))
    typed["reason"] = "unknown";
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- every field was read as the table says
  return typed as unknown as KnownNotification;
}

/** `duration_ms` → `durationMs`; times and lengths of time become milliseconds and say so. */
function nameOf(key: string, read: FieldReader): string {
  const name = key.replaceAll(/_([a-z])/g, (_match, letter: string) => letter.toUpperCase());
  return read === readTime || read === readDuration ? `${name}Ms` : name;
}
