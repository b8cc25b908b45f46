/** A recorded case of the code-mode contract. The file of vectors is data: its field names are kept. */
export interface Vector {
  readonly name: string;
  readonly match: "exact" | "pattern";
  /** Texts of the JavaScript engine, of a JSON parser or of a gRPC library: only their first line must match. */
  readonly engine_text?: boolean;
  readonly json_parser_text?: boolean;
  readonly grpc_stack_text?: boolean;
  readonly superset_of_sorted_names?: readonly string[];
  readonly limits?: { readonly max_yield_time_ms?: number; readonly max_heap_size_bytes?: number };
  readonly session?: SessionInit;
  readonly subscribe?: boolean;
  readonly tool_filters?: readonly WireName[];
  readonly cells?: readonly CellStep[];
  readonly ops?: readonly Operation[];
  readonly unordered?: readonly string[];
  readonly summarize?: boolean;
  readonly summarize_last?: boolean;
  readonly expect: Expectation;
}

export interface SessionInit {
  readonly output_truncation?: "unspecified" | "none" | "bounded" | number;
  readonly max_pending_delegate_calls?: number;
  readonly heartbeat_interval_s?: number;
}

export interface WireName {
  readonly name: string;
  readonly namespace?: string;
}

/** A function tool by its name, or everything about it. */
export type VectorTool =
  | string
  | {
      readonly name: string;
      readonly tool_name?: { readonly name?: string; readonly namespace?: string } | null;
      readonly description?: string;
      readonly kind?: "function" | "freeform" | number;
      readonly input_schema_json?: string;
      readonly output_schema_json?: string;
    };

export interface ToolReply {
  readonly echo?: boolean;
  readonly json?: unknown;
  readonly raw?: string;
  readonly fail?: string;
  readonly never?: boolean;
  readonly delay_ms?: number;
}

export interface ExecuteStep {
  readonly source?: string;
  readonly execution_id?: string;
  readonly tool_call_id?: string;
  readonly enabled_tools?: readonly VectorTool[];
  readonly yield_time_ms?: number;
  readonly max_output_tokens?: number;
  readonly catalog_revision?: number;
}

export interface CellStep extends ExecuteStep {
  readonly tool_replies?: Readonly<Record<string, ToolReply | readonly ToolReply[]>>;
  readonly background?: boolean;
  readonly actions?: readonly CellAction[];
}

export interface CellAction {
  readonly op: "sleep" | "wait" | "terminate" | "yield_observation" | "await_outcome";
  readonly ms?: number;
  readonly cell?: string;
  readonly wait_id?: string;
  readonly execution_id?: string;
  readonly yield_time_ms?: number;
  readonly max_output_tokens?: number;
}

/** One step of an explicit sequence. Which fields count depends on `op`. */
export interface Operation extends ExecuteStep {
  readonly op: string;
  readonly as?: string;
  readonly of?: string;
  readonly session?: string;
  readonly session_id?: string;
  readonly init?: SessionInit;
  readonly limits?: Vector["limits"];
  readonly record?: boolean;
  readonly tool_names?: readonly WireName[];
  readonly heartbeat_interval_s?: number;
  readonly cell?: string;
  readonly wait_id?: string;
  readonly background?: boolean;
  readonly invocation_id?: string;
  readonly call?: number;
  readonly json?: unknown;
  readonly raw?: string;
  readonly fail?: string;
  readonly note?: number;
  readonly notification_id?: string;
  readonly n?: number;
  readonly routes?: boolean;
  readonly event?: string;
  readonly rpc?: string;
  readonly message?: Record<string, unknown>;
  readonly ms?: number;
  readonly settle_ms?: number;
  readonly timeout_ms?: number;
}

/** What a replay brings; compared with the recording. */
export type Expectation = { readonly [key: string]: unknown };
