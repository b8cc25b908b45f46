import type { JsonValue } from "../json.ts";

/**
 * What the tools tell the host of a session while they work, with the keys that travel: the object is the
 * `notification_json` of a `ToolNotificationMsg`.
 */
export type ToolNotification =
  | (BashOutput & { readonly type: "BashOutputChunk" })
  | (BashOutput & {
      readonly type: "BashExecutionComplete";
      readonly exit_code: number | null;
      readonly signal: string | null;
    })
  | (BashOutput & {
      readonly type: "BashExecutionTimeout";
      readonly elapsed: NotifiedDuration;
      readonly timeout: NotifiedDuration;
    })
  | (BashOutput & {
      readonly type: "BashExecutionBackgrounded";
      readonly output_file: string;
      readonly task_id: string;
      /** Present: the task is a monitor. */
      readonly monitor_description?: string;
      readonly description?: string;
    })
  | {
      readonly type: "BashExecutionFailed";
      readonly tool_call_id: string;
      readonly command: string;
      readonly cwd: string;
      readonly error: string;
    }
  | {
      readonly type: "FileWritten";
      readonly tool_call_id: string;
      readonly absolute_path: string;
      readonly content: string;
      /** Null: the file is new. */
      readonly previous_content: string | null;
      readonly is_new_file: boolean;
      /** A side was cut. */
      readonly content_truncated?: boolean;
    }
  | (TaskSnapshot & { readonly type: "TaskCompleted" })
  | {
      readonly type: "SubagentCompleted";
      readonly subagent_id: string;
      readonly subagent_type: string;
      readonly description: string;
      readonly status: "completed" | "failed" | "cancelled";
      readonly error: string | null;
      readonly duration_ms: number;
      readonly owner_session_id: string | null;
    }
  | { readonly type: "PlanModeEntered"; readonly tool_call_id: string }
  | {
      readonly type: "PlanModeExited";
      readonly tool_call_id: string;
      readonly plan_content: string | null;
      readonly plan_file_path: string;
    }
  | { readonly type: "UserQuestionAsked"; readonly tool_call_id: string; readonly questions_json: JsonValue }
  | { readonly type: "LspServerStarting"; readonly server_name: string; readonly command: string }
  | { readonly type: "LspServerReady" | "LspServerCrashed"; readonly server_name: string }
  | {
      readonly type: "LspServerRetrying";
      readonly server_name: string;
      readonly attempt: number;
      readonly max_restarts: number;
      readonly backoff_ms: number;
    }
  | {
      readonly type: "LspServerFailed";
      readonly server_name: string;
      readonly error: string;
      /** 0: it never started. */
      readonly attempts: number;
    }
  | (ScheduledTaskVersion & {
      readonly type: "ScheduledTaskFired";
      readonly prompt: string;
      readonly human_schedule: string;
      /** RFC 3339. */
      readonly next_fire_at: string | null;
      readonly subagent_id: string | null;
    })
  | (ScheduledTaskVersion & {
      readonly type: "ScheduledTaskRemoved";
      readonly reason: "completed" | "expired" | "deleted" | "shutdown" | "unknown";
    })
  | (ScheduledTaskVersion & {
      readonly type: "ScheduledTaskCreated";
      readonly prompt: string;
      readonly human_schedule: string;
      readonly next_fire_at: string | null;
    })
  | {
      readonly type: "MonitorEvent";
      readonly task_id: string;
      readonly description: string;
      /** Wrapped in `<monitor-event>` tags. */
      readonly event_text: string;
      readonly raw_text: string;
      readonly owner_session_id: string | null;
    };

interface BashOutput {
  /** The `call_id` of the execute call. */
  readonly tool_call_id: string;
  readonly command: string;
  /** Base64. */
  readonly output: string;
  readonly total_bytes: number;
  readonly truncated: boolean;
  readonly cwd: string;
}

interface TaskSnapshot {
  readonly task_id: string;
  readonly command: string;
  readonly display_command?: string;
  readonly cwd: string;
  readonly start_time: NotifiedTime;
  readonly end_time: NotifiedTime | null;
  readonly output: string;
  readonly output_file: string;
  readonly truncated: boolean;
  readonly output_total_bytes: number;
  readonly exit_code: number | null;
  readonly signal: string | null;
  readonly completed: boolean;
  readonly kind: "bash" | "monitor";
  readonly block_waited: boolean;
  readonly explicitly_killed: boolean;
  readonly kill_result_delivered: boolean;
  readonly owner_session_id?: string;
  readonly description?: string;
  readonly is_backgrounded: boolean;
}

interface ScheduledTaskVersion {
  readonly task_id: string;
  /** UUID v7 of the task's life. */
  readonly generation: string;
  /** Grows by 1 with every change. */
  readonly revision: number;
}

/** A point in time as the original writes it. */
export interface NotifiedTime {
  readonly secs_since_epoch: number;
  readonly nanos_since_epoch: number;
}

/** A length of time as the original writes it. */
export interface NotifiedDuration {
  readonly secs: number;
  readonly nanos: number;
}
