import {
  AISDKError,
  APICallError,
  EmptyResponseBodyError,
  InvalidResponseDataError,
  JSONParseError,
  TypeValidationError,
} from "@ai-sdk/provider";
import type { ModelErrorKind, ModelFailure } from "../../ports/model-port.ts";

/** Longest wait a provider may ask for; beyond it our own back-off is used. */
const MAX_RETRY_AFTER_MS = 60_000;

/** Words for "the request does not fit", for providers that give no code for it. */
const overflowWords = ["maximum context length", "context window", "prompt is too long", "context limit"];

/** Error words of providers whose errors come inside a stream, without a status. */
const kindOfWord: Readonly<Record<string, ModelErrorKind>> = {
  context_length_exceeded: "contextOverflow",
  request_too_large: "contextOverflow",
  authentication_error: "auth",
  permission_error: "auth",
  invalid_api_key: "auth",
  content_filter: "contentFilter",
  content_policy_violation: "contentFilter",
  rate_limit_error: "transient",
  rate_limit_exceeded: "transient",
  overloaded_error: "transient",
  timeout_error: "transient",
  api_error: "transient",
  server_error: "transient",
  internal_server_error: "transient",
};

/** What is known of a failed request. */
export interface FailureFacts {
  readonly message: string;
  /** HTTP status, or what stands for it in a stream. */
  readonly status: number | undefined;
  /** `code` and `type` of the provider's error. */
  readonly words: readonly string[];
}

/**
 * What the loop is told of anything a provider package throws or streams as an error.
 *
 * @param secrets values that must not travel with the message
 * @param nowMs for `retry-after` dates
 */
export function classifyFailure(
  thrown: unknown,
  { secrets, nowMs }: { readonly secrets: readonly string[]; readonly nowMs: number },
): ModelFailure {
  const failure = failureOf(factsOf(thrown), isBrokenTransport(thrown) ? "transient" : "other");
  const retryAfterMs = failure.kind === "transient" ? retryAfterOf(thrown, nowMs) : undefined;
  return {
    ...failure,
    message: withoutSecrets(failure.message, secrets),
    ...(retryAfterMs !== undefined && { retryAfterMs }),
  };
}

/** The failure that a status, an error word or the message itself stands for; `otherwise` when none does. */
export function failureOf(facts: FailureFacts, otherwise: ModelErrorKind = "other"): ModelFailure {
  const { message, status } = facts;
  const kind = kindOf(facts) ?? otherwise;
  const windowTokens = kind === "contextOverflow" ? windowIn(message) : undefined;
  return {
    type: "error",
    kind,
    message,
    ...(status !== undefined && { status }),
    ...(windowTokens !== undefined && { contextWindowTokens: windowTokens }),
  };
}

function factsOf(thrown: unknown): FailureFacts {
  if (APICallError.isInstance(thrown)) {
    return {
      message: thrown.message || `the provider answered with status ${thrown.statusCode}`,
      status: thrown.statusCode,
      words: wordsOf(errorBody(thrown.data)),
    };
  }
  if (thrown instanceof Error) return { message: thrown.message, status: undefined, words: [] };
  const body = errorBody(thrown) ?? thrown;
  const message = field(body, "message");
  const status = field(body, "statusCode") ?? field(body, "status") ?? field(body, "code");
  return {
    message: typeof message === "string" ? message : "the provider reported an error without a message",
    status: typeof status === "number" && status >= 400 && status < 600 ? status : undefined,
    words: wordsOf(body),
  };
}

/** The `error` object both APIs wrap their errors in. */
function errorBody(data: unknown): unknown {
  return field(data, "error");
}

function wordsOf(body: unknown): string[] {
  return [field(body, "code"), field(body, "type")].filter((word) => typeof word === "string");
}

function field(value: unknown, key: string): unknown {
  return typeof value === "object" && value !== null ? Reflect.get(value, key) : undefined;
}

function kindOf({ message, status, words }: FailureFacts): ModelErrorKind | undefined {
  const known = words.map((word) => kindOfWord[word]).find((kind) => kind !== undefined);
  if (status === 401 || status === 403) return "auth";
  if (status === 408 || status === 409 || status === 429) return "transient";
  if (status !== undefined && status >= 500) return "transient";
  if (known !== undefined) return known;
  if (status === 413 || saysOverflow(message)) return "contextOverflow";
  return undefined;
}

function saysOverflow(message: string): boolean {
  const text = message.toLowerCase();
  return (
    overflowWords.some((words) => text.includes(words)) ||
    (text.includes("input_tokens") && text.includes("400"))
  );
}

/** A response that could not be read is treated as a connection that broke. */
function isBrokenTransport(thrown: unknown): boolean {
  if (APICallError.isInstance(thrown)) return thrown.isRetryable || thrown.statusCode === 200;
  if (
    JSONParseError.isInstance(thrown) ||
    TypeValidationError.isInstance(thrown) ||
    InvalidResponseDataError.isInstance(thrown) ||
    EmptyResponseBodyError.isInstance(thrown)
  ) {
    return true;
  }
  if (AISDKError.isInstance(thrown)) return false;
  // fetch reports a lost connection as a TypeError, with the socket's error as cause.
  return thrown instanceof TypeError && thrown.cause !== undefined;
}

function retryAfterOf(thrown: unknown, nowMs: number): number | undefined {
  if (!APICallError.isInstance(thrown)) return undefined;
  const headers = thrown.responseHeaders ?? {};
  const exact = Number(headers["retry-after-ms"] ?? Number.NaN);
  const plain = headers["retry-after"];
  const seconds = Number(plain ?? Number.NaN);
  const date = plain === undefined ? Number.NaN : Date.parse(plain) - nowMs;
  const waitMs = [exact, seconds * 1000, date].find((value) => Number.isFinite(value));
  return waitMs === undefined || waitMs < 0 ? undefined : Math.min(waitMs, MAX_RETRY_AFTER_MS);
}

/** The limit a message names, such as `maximum context length is 8192 tokens` or `210000 tokens > 200000 maximum`. */
function windowIn(message: string): number | undefined {
  const match =
    /(?:maximum context length|context window|context limit)\D{0,20}?(\d[\d,]*)/i.exec(message) ??
    />\s*(\d[\d,]*)\s*maximum/i.exec(message);
  const tokens = Number(match?.[1]?.replaceAll(",", "") ?? Number.NaN);
  return Number.isSafeInteger(tokens) && tokens >= 1_000 ? tokens : undefined;
}

function withoutSecrets(message: string, secrets: readonly string[]): string {
  let text = message;
  for (const secret of secrets) if (secret.length >= 6) text = text.replaceAll(secret, "[redacted]");
  return text;
}
