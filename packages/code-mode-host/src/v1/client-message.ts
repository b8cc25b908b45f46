import type { OutputMode, ToolDefinition } from "@trivium/code-mode-runtime";

/** What a client says first. */
export interface Hello {
  readonly supportedVersions: readonly bigint[];
  readonly requiredCapabilities: readonly string[];
  readonly optionalCapabilities: readonly string[];
}

/** What a program to run is sent with. */
export interface ExecuteBody {
  readonly toolCallId: string;
  readonly tools: readonly ToolDefinition[];
  readonly source: string;
  readonly yieldTimeMs: number | undefined;
  /** May be negative: that is refused by the operation, not by the reading. */
  readonly maxOutputTokens: number | undefined;
  readonly catalogRevision: bigint | undefined;
}

/** One operation on a session. */
export type OperationRequest =
  | {
      readonly method: "session/open";
      readonly sessionId: string;
      readonly maxYieldTimeMs: number | undefined;
      readonly maxHeapSizeBytes: number | undefined;
      readonly outputMode: OutputMode;
    }
  | { readonly method: "session/execute"; readonly sessionId: string; readonly body: ExecuteBody }
  | {
      readonly method: "session/wait";
      readonly sessionId: string;
      readonly cellId: string;
      readonly yieldTimeMs: number;
      readonly maxOutputTokens: number | undefined;
    }
  | {
      readonly method: "session/terminate";
      readonly sessionId: string;
      readonly cellId: string;
      readonly maxOutputTokens: number | undefined;
    }
  | { readonly method: "session/shutdown"; readonly sessionId: string };

/** A client's answer to a tool call or a notification. */
export type DelegateResult =
  /** JSON text as the client wrote it. */
  | { readonly type: "tool-result"; readonly json: string }
  | { readonly type: "notification-delivered" }
  | { readonly type: "error"; readonly message: string };

/** Everything a client may send. Ids are 64-bit integers. */
export type ClientMessage =
  | { readonly type: "connection/hello"; readonly hello: Hello }
  | { readonly type: "operation/request"; readonly id: bigint; readonly request: OperationRequest }
  | { readonly type: "operation/cancel"; readonly id: bigint }
  | { readonly type: "operation/yield"; readonly id: bigint }
  | { readonly type: "delegate/response"; readonly id: bigint; readonly result: DelegateResult };
