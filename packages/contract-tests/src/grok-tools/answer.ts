import { Code, ConnectError } from "@connectrpc/connect";
import { ErrorCodeSchema, type ExecuteToolResponse } from "@trivium/proto/grok-tools";

/** How a call ended, in the words of an expectation. */
export interface Answer {
  readonly ending: "success" | "error" | "rpc failure";
  /** Name of the `ErrorCode` or of the status; undefined for a success. */
  readonly code: string | undefined;
  /** The structured output: of a success, or the one an error carries. */
  readonly output: unknown;
  readonly details: unknown;
  /** What a model would read. */
  readonly text: string;
  readonly isRetryable: boolean;
  readonly hasSuggestion: boolean;
  readonly isTruncated: boolean;
  readonly callId: string;
  readonly durationMs: number;
}

/**
 * Reads a response.
 *
 * @throws when it breaks what holds for every response: one result, metadata, parsable JSON.
 */
export function toAnswer({ result, callId, metadata }: ExecuteToolResponse, durationMs: number): Answer {
  if (metadata === undefined) throw new Error("the response has no metadata");
  const common = { callId, durationMs, isTruncated: metadata.truncated };
  if (result.case === "success") {
    return {
      ...common,
      ending: "success",
      code: undefined,
      output: JSON.parse(result.value.outputJson),
      details: undefined,
      text: result.value.promptText,
      isRetryable: false,
      hasSuggestion: false,
    };
  }
  if (result.case === undefined) throw new Error("the response has neither success nor error");
  const { code, message, detailsJson, retryable, suggestion } = result.value;
  const details: unknown = detailsJson === undefined ? undefined : JSON.parse(detailsJson);
  return {
    ...common,
    ending: "error",
    code: ErrorCodeSchema.value[code]?.name.replace("ERROR_CODE_", ""),
    output: (details as { output?: unknown } | undefined)?.output,
    details,
    text: message,
    isRetryable: retryable,
    hasSuggestion: (suggestion ?? "") !== "",
  };
}

/** Reads the failure of a call that brought no response. */
export function toFailedAnswer(thrown: unknown, durationMs: number): Answer {
  const { code, rawMessage } = ConnectError.from(thrown);
  return {
    ending: "rpc failure",
    code: Code[code],
    output: undefined,
    details: undefined,
    text: rawMessage,
    isRetryable: false,
    hasSuggestion: false,
    isTruncated: false,
    callId: "",
    durationMs,
  };
}
