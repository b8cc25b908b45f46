/**
 * Payloads of `CoreEventProto.payload_json`, by their `type`. One closed union for the side that sends and the
 * side that reads; it holds no code.
 *
 * Every declared key is present in a payload; what is absent is null. Readers ignore unknown keys.
 */

/** Keys that the event stream of a session adds to every event of it. */
export interface CrabcodeEventEnvelope {
  readonly session_id: string;
  /** Names one numbering of the session's events. */
  readonly epoch: string;
  /** 1, 2, 3 … per session and epoch. */
  readonly seq: number;
  /** RFC 3339, UTC, milliseconds; when the event was published. */
  readonly ts: string;
  /** 32 hexadecimal characters; absent outside any turn or agent run. */
  readonly operation_id?: string;
  readonly operation_scope?: "foreground" | "background";
  /** The `Code` call a nested call belongs to. */
  readonly parent_tool_use_id?: string;
  /** Only questions: RFC 3339, or null for never. */
  readonly expires_at?: string | null;
  /** Only a pending question that is sent again. */
  readonly replayed?: true;
  /** Only merged text: stands for `seq_from` to `seq`. */
  readonly seq_from?: number;
}

/** `turn_complete.usage` and `agent_state.usage`. */
export interface CrabcodeUsage {
  readonly input_tokens?: number;
  readonly output_tokens?: number;
  readonly cached_input_tokens?: number;
  readonly reasoning_tokens?: number;
  readonly steps?: number;
}

/** How a question came to its end. */
export type QuestionResolution = "answered" | "expired" | "cancelled" | "auto";

type Json = Readonly<Record<string, unknown>>;

export interface StreamTextEvent {
  readonly type: "stream_text";
  readonly text: string;
}

export interface ThinkingEvent {
  readonly type: "thinking";
  readonly text: string;
}

export interface ToolUseEvent {
  readonly type: "tool_use";
  readonly tool_name: string;
  readonly tool_input: Json;
  readonly tool_use_id: string;
  readonly agent_id: string | null;
}

export interface ToolResultEvent {
  readonly type: "tool_result";
  readonly tool_use_id: string;
  readonly tool_name: string;
  readonly result: string;
  readonly is_error: boolean;
  readonly result_for_display: string | null;
  readonly tool_input: Json;
  readonly agent_id: string | null;
}

export interface PermissionRequestEvent {
  readonly type: "permission_request";
  readonly tool_name: string;
  readonly tool_input: Json;
  readonly tool_use_id: string;
  readonly reason: string | null;
  readonly permission_key: string | null;
  readonly agent_id: string | null;
  readonly request_kind: "tool" | "peer_message";
}

export interface PermissionResponseEvent {
  readonly type: "permission_response";
  readonly tool_use_id: string;
  readonly allowed: boolean;
  readonly always_allow: boolean;
  readonly agent_id: string | null;
  readonly feedback: string | null;
  readonly resolution: QuestionResolution;
}

export interface ChoiceRequestEvent {
  readonly type: "choice_request";
  readonly tool_use_id: string;
  readonly question: string;
  readonly options: readonly string[];
  readonly multiple: boolean;
  readonly agent_id: string | null;
}

export interface ChoiceResponseEvent {
  readonly type: "choice_response";
  readonly tool_use_id: string;
  readonly selected: readonly string[];
  readonly cancelled: boolean;
  readonly agent_id: string | null;
  readonly resolution: QuestionResolution;
}

/** What a loop is doing right now. */
export type StreamMode =
  | "requesting"
  | "compacting"
  | "thinking"
  | "responding"
  | "tool-input"
  | "tool-running";

export interface StreamModeEvent {
  readonly type: "stream_mode";
  readonly mode: StreamMode;
  readonly agent_id: string | null;
}

export interface CompactEvent {
  readonly type: "compact";
  readonly summary: string;
  readonly messages_before: number;
  readonly messages_after: number;
  readonly trigger: "auto" | "overflow" | "manual";
  readonly agent_id: string | null;
}

/** Class of an `error` event. */
export type CrabcodeErrorType =
  | ""
  | "hook"
  | "internal"
  | "network"
  | "context_overflow"
  | "empty_response"
  | "agent"
  | "agent_callback"
  | "unknown"
  | "auth"
  | "config"
  | "content_filter";

export interface ErrorEvent {
  readonly type: "error";
  readonly message: string;
  readonly recoverable: boolean;
  readonly error_type: CrabcodeErrorType;
  readonly agent_id: string | null;
  readonly command: string | null;
  readonly command_error: boolean;
}

/** Why a turn ended. */
export type TurnCompleteReason =
  | "end_turn"
  | "max_turns_reached"
  | "empty_response"
  | "mode_switch_requested"
  | "interrupted"
  | "context_overflow"
  | "error"
  | "hook_blocked";

export interface TurnCompleteEvent {
  readonly type: "turn_complete";
  readonly reason: TurnCompleteReason;
  readonly turn_count: number;
  readonly usage: CrabcodeUsage;
  readonly context_used_tokens: number;
  readonly context_window_tokens: number;
  readonly context_remaining_tokens: number;
  /** Rounded to one decimal. */
  readonly context_used_percent: number;
}

/** State of a managed agent. */
export type AgentStatus = "queued" | "running" | "completed" | "failed" | "stopped";

export interface AgentStateEvent {
  readonly type: "agent_state";
  readonly agent_id: string;
  readonly parent_agent_id: string | null;
  readonly status: AgentStatus;
  readonly subagent_type: string;
  readonly title: string;
  /** For people, not for parsing. */
  readonly message: string;
  readonly usage: CrabcodeUsage;
}

export interface AgentOutputEvent {
  readonly type: "agent_output";
  readonly agent_id: string;
  readonly stream: "text" | "thinking" | "tool_use";
  readonly text: string;
  readonly tool_name: string | null;
}

export interface ModeChangeEvent {
  readonly type: "mode_change";
  readonly mode: "agent" | "plan";
  /** `client` when a client switched; from the tool it is a request. */
  readonly reason: string;
}

/** One step of a submitted plan. */
export interface PlanStep {
  readonly id: string;
  readonly title: string;
  readonly description: string;
  readonly files: readonly string[];
  readonly depends_on: readonly string[];
  readonly subagent_type: string;
  readonly status: "pending" | "running" | "completed" | "failed" | "cancelled";
  readonly agent_id: string | null;
  readonly result: string;
  readonly error: string;
}

export interface PlanReadyEvent {
  readonly type: "plan_ready";
  readonly plan: {
    readonly title: string;
    readonly summary: string;
    readonly status: "pending" | "running" | "completed" | "failed";
    readonly steps: readonly PlanStep[];
  };
}

export interface ModelChangeEvent {
  readonly type: "model_change";
  readonly session_id: string;
  readonly model_profile: string;
}

export interface PermissionModeChangeEvent {
  readonly type: "permission_mode_change";
  readonly session_id: string;
  readonly permission_mode: "default" | "ask" | "ai_review" | "run_everything";
}

export interface FileChangeEvent {
  readonly type: "file_change";
  /** Absolute. */
  readonly path: string;
  readonly action: "create" | "modify" | "delete";
  /** Unified, at most 10 000 characters. */
  readonly diff: string | null;
  /** Present when an agent made the change. */
  readonly agent_id?: string;
}

export interface SnapshotEvent {
  readonly type: "snapshot";
  readonly snapshot_id: string;
  readonly tool_name: string;
  readonly files: readonly string[];
  readonly agent_id?: string;
}

export interface RevertEvent {
  readonly type: "revert";
  readonly snapshot_id: string;
  readonly files_restored: readonly string[];
}

export interface StreamRetryEvent {
  readonly type: "stream_retry";
  readonly message: string;
  readonly error: string;
  readonly retry_count: number;
  readonly max_retries: number;
  readonly delay_seconds: number;
  readonly unbounded: boolean;
  readonly transport_fallback: boolean;
  /** Characters of this step's text that a client removes from the end. */
  readonly discarded_text_chars: number;
  readonly agent_id: string | null;
}

/** Facts about one session in `server.connected`. */
export interface ServerSessionProperties {
  readonly epoch: string;
  /** Last published event; 0 before the first. */
  readonly seq: number;
  readonly model: string;
  readonly mode: "agent" | "plan";
  /** A turn runs or waits. */
  readonly busy: boolean;
}

export interface ServerConnectedEvent {
  readonly type: "server.connected";
  readonly properties: {
    readonly session_id: string | null;
    readonly epoch: string | null;
    readonly seq: number | null;
    readonly model: string | null;
    readonly mode: "agent" | "plan" | null;
    readonly busy: boolean | null;
    readonly version: string;
    /** Only for a subscription to all sessions: the loaded ones. */
    readonly sessions?: Readonly<Record<string, ServerSessionProperties>>;
  };
}

export interface ServerHeartbeatEvent {
  readonly type: "server.heartbeat";
  readonly properties: {
    readonly session_id: string | null;
    readonly epoch: string | null;
    readonly seq: number | null;
    readonly model: string | null;
  };
}

/** Why events are missing from a stream. */
export type GapReason = "retention" | "epoch" | "corruption" | "session_gone";

export interface ServerGapEvent {
  readonly type: "server.gap";
  readonly properties: {
    readonly session_id: string;
    readonly epoch: string;
    /** First missing `seq`; with `to_seq` 0 nothing of this epoch is missing. */
    readonly from_seq: number;
    /** Last missing `seq`. */
    readonly to_seq: number;
    readonly reason: GapReason;
    readonly previous_epoch: string | null;
  };
}

/** Events that belong to a session and are numbered. */
export type CrabcodeSessionEvent =
  | StreamTextEvent
  | ThinkingEvent
  | ToolUseEvent
  | ToolResultEvent
  | PermissionRequestEvent
  | PermissionResponseEvent
  | ChoiceRequestEvent
  | ChoiceResponseEvent
  | StreamModeEvent
  | CompactEvent
  | ErrorEvent
  | TurnCompleteEvent
  | AgentStateEvent
  | AgentOutputEvent
  | ModeChangeEvent
  | PlanReadyEvent
  | ModelChangeEvent
  | PermissionModeChangeEvent
  | FileChangeEvent
  | SnapshotEvent
  | RevertEvent
  | StreamRetryEvent;

/** Events about a stream itself; not numbered, not kept. */
export type CrabcodeServerEvent = ServerConnectedEvent | ServerHeartbeatEvent | ServerGapEvent;

/** Every event a stream of this contract carries, without the envelope. */
export type CrabcodeEvent = CrabcodeSessionEvent | CrabcodeServerEvent;

/** Every value of `CoreEventProto.type` that is sent. */
export type CrabcodeEventType = CrabcodeEvent["type"];
