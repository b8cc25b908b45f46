import {
  AISDKError,
  APICallError,
  EmptyResponseBodyError,
  InvalidResponseDataError,
  JSONParseError,
  TypeValidationError,
} from "@ai-sdk/provider";
import type { ModelFailure } from "../../ports/model-port.ts";
import { type FailureFacts, failureOf } from "../failure-of.ts";

/** Longest wait a provider may ask for; beyond it our own back-off is used. */
const MAX_RETRY_AFTER_MS = 60_000;

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

function withoutSecrets(message: string, secrets: readonly string[]): string {
  let text = message;
  for (const secret of secrets) if (secret.length >= 6) text = text.replaceAll(secret, "[redacted]");
  return text;
}
