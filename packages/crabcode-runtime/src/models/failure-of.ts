import type { ModelErrorKind, ModelFailure } from "../ports/model-port.ts";

/** Words for "the request does not fit", for providers that give no code for it. */
const overflowWords = ["maximum context length", "context window", "prompt is too long", "context limit"];

/** Error words of providers whose errors come inside a stream, without a status. */
const kindOfWord: ReadonlyMap<string, ModelErrorKind> = new Map([
  ["context_length_exceeded", "contextOverflow"],
  ["request_too_large", "contextOverflow"],
  ["authentication_error", "auth"],
  ["permission_error", "auth"],
  ["invalid_api_key", "auth"],
  ["content_filter", "contentFilter"],
  ["content_policy_violation", "contentFilter"],
  ["rate_limit_error", "transient"],
  ["rate_limit_exceeded", "transient"],
  ["overloaded_error", "transient"],
  ["timeout_error", "transient"],
  ["api_error", "transient"],
  ["server_error", "transient"],
  ["internal_server_error", "transient"],
]);

/** What is known of a failed request. */
export interface FailureFacts {
  readonly message: string;
  /** HTTP status, or what stands for it in a stream. */
  readonly status: number | undefined;
  /** `code` and `type` of the provider's error. */
  readonly words: readonly string[];
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

function kindOf({ message, status, words }: FailureFacts): ModelErrorKind | undefined {
  const known = words.map((word) => kindOfWord.get(word)).find((kind) => kind !== undefined);
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

/** The limit a message names, such as `maximum context length is 8192 tokens` or `210000 tokens > 200000 maximum`. */
function windowIn(message: string): number | undefined {
  const match =
    /(?:maximum context length|context window|context limit)\D{0,20}?(\d[\d,]*)/i.exec(message) ??
    />\s*(\d[\d,]*)\s*maximum/i.exec(message);
  const tokens = Number(match?.[1]?.replaceAll(",", "") ?? Number.NaN);
  return Number.isSafeInteger(tokens) && tokens >= 1_000 ? tokens : undefined;
}
