import type { Client } from "@connectrpc/connect";
import type {
  FinalizeToolServerConfigResponse,
  GrokToolsService,
  ToolInfo,
  VersionWarning,
} from "@trivium/proto/grok-tools";
import { type JsonValue, parseJsonField } from "@trivium/rpc";
import { sessionHeaders, toCallOptions, toCallRequest } from "./call-request.ts";
import type { CallbackState } from "./callback-address.ts";
import { toSessionError } from "./session-errors.ts";
import {
  type ToolCallOptions,
  type ToolCallResult,
  type ToolCallSuccess,
  toCallMetadata,
} from "./tool-call.ts";
import { ToolCallStream } from "./tool-call-stream.ts";
import { ToolCallError } from "./tool-error.ts";

/** A session whose tools can be called. */
export class ToolSession {
  /** Undefined for the server's default session. */
  readonly sessionId: string | undefined;
  /** In the order of the configuration, with schemas. */
  readonly tools: readonly ToolInfo[];
  /** What the server noticed while it configured the tools, for example `ignored_param:x`. */
  readonly warnings: readonly string[];
  /** Configured behaviour that will go away. */
  readonly versionWarnings: readonly VersionWarning[];
  /** Undefined when the session was configured without callbacks, or by somebody else. */
  readonly callbacks: CallbackState | undefined;
  readonly #rpc: Client<typeof GrokToolsService>;

  /** @internal Made by {@link GrokToolsClient}. */
  constructor(
    rpc: Client<typeof GrokToolsService>,
    sessionId: string | undefined,
    {
      tools,
      message,
      versionWarnings,
      callbackStatus,
    }: Pick<FinalizeToolServerConfigResponse, "tools" | "message" | "versionWarnings" | "callbackStatus">,
  ) {
    this.#rpc = rpc;
    this.sessionId = sessionId;
    this.tools = tools;
    this.versionWarnings = versionWarnings;
    this.callbacks = callbackStatus && {
      isConnected: callbackStatus.connected,
      activeSurfaces: callbackStatus.activeSurfaces,
      message: callbackStatus.message,
    };
    this.warnings = message.split("\n").flatMap((line) => {
      const warning = /^warning: (.*)$/.exec(line)?.[1];
      return warning === undefined ? [] : [warning];
    });
  }

  /**
   * Calls a tool by its client name. A failure of the tool is part of the result.
   *
   * @throws {@link TriviumError} when the call could not be carried out; a cancelled one has the kind `cancelled`.
   */
  async call(toolName: string, input: unknown, options: ToolCallOptions = {}): Promise<ToolCallResult> {
    try {
      const request = toCallRequest(toolName, input, options);
      const response = await this.#rpc.executeTool(request, toCallOptions(this.sessionId, options));
      const { callId, result } = response;
      const metadata = toCallMetadata(response.metadata);
      if (result.case === "error")
        return { ok: false, callId, error: new ToolCallError(result.value), metadata };
      const { promptText = "", outputJson = "null" } = result.value ?? {};
      return { ok: true, callId, output: parseJsonField("output_json", outputJson), promptText, metadata };
    } catch (thrown) {
      throw toSessionError(thrown);
    }
  }

  /**
   * As {@link ToolSession.call}, for callers that treat a failure of the tool as an exception.
   *
   * @throws {@link ToolCallError} for a failure of the tool; what `call` throws.
   */
  async callOrThrow(
    toolName: string,
    input: unknown,
    options: ToolCallOptions = {},
  ): Promise<ToolCallSuccess> {
    const result = await this.call(toolName, input, options);
    if (result.ok) return result;
    throw result.error;
  }

  /** Calls a tool and gives its answer as it arrives. Needed for answers above 16 MiB. */
  stream(toolName: string, input: unknown, options: ToolCallOptions = {}): ToolCallStream {
    const request = toCallRequest(toolName, input, options);
    return new ToolCallStream(this.#rpc.executeToolStream(request, toCallOptions(this.sessionId, options)));
  }

  /** The state of the tools when no call runs: `{ params, state }`. Can start a later session. */
  async state(options: { signal?: AbortSignal } = {}): Promise<JsonValue> {
    try {
      const headers = sessionHeaders(this.sessionId);
      const { stateJson } = await this.#rpc.getToolState({}, { ...options, headers });
      return parseJsonField("state_json", stateJson);
    } catch (thrown) {
      throw toSessionError(thrown);
    }
  }
}
