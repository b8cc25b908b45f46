import { ErrorCode } from "@trivium/proto/grok-tools";
import { shorten } from "../shorten.ts";
import { ToolError } from "../tool-error.ts";
import { redactKey } from "./provider-key.ts";
import { ACCEPTED_ENCODINGS, readBody } from "./read-body.ts";
import { sendRequest } from "./send-request.ts";

/** One call of an API that the server's operator configured. */
export interface ApiCall {
  /** Named in errors: `the search provider`. */
  readonly provider: string;
  readonly url: URL;
  /** Sent as JSON with POST. Absent: GET. */
  readonly body?: unknown;
  readonly key?: string | undefined;
  /** Header that carries the key as it is. Default: `authorization`, as a bearer token. */
  readonly keyHeader?: string | undefined;
  readonly maxBytes?: number | undefined;
  readonly signal: AbortSignal;
}

const MAX_ANSWER_BYTES = 4 * 1024 * 1024;

/**
 * Calls a JSON API and gives the parsed answer. The key never appears in an error.
 *
 * @throws {@link ToolError} PERMISSION_DENIED for 401 and 403, RATE_LIMITED for 429, EXECUTION_FAILED for other
 * statuses and for answers that are no JSON; what {@link sendRequest} and {@link readBody} throw.
 */
export async function callApi(call: ApiCall): Promise<unknown> {
  const { provider, url, body, key, keyHeader, maxBytes = MAX_ANSWER_BYTES, signal } = call;
  await using response = await sendRequest({
    url,
    method: body === undefined ? "GET" : "POST",
    headers: {
      accept: "application/json",
      "accept-encoding": ACCEPTED_ENCODINGS,
      ...(body === undefined ? {} : { "content-type": "application/json" }),
      ...keyHeaders(key, keyHeader),
    },
    body: body === undefined ? undefined : JSON.stringify(body),
    signal,
  });
  const text = (await readBody(response, { url, maxBytes, signal })).toString("utf8");
  const answer = parse(text);
  if (response.status < 200 || response.status > 299) {
    // The key goes first: a text that is cut inside it would keep its beginning.
    const said = shorten(redactKey(errorTextOf(answer), key), 300);
    throw httpFailure({
      provider,
      status: response.status,
      said,
      retryAfter: response.header("retry-after"),
    });
  }
  if (answer !== undefined) return answer;
  throw new ToolError(ErrorCode.EXECUTION_FAILED, `${provider} answered with something that is not JSON`, {
    retryable: true,
  });
}

function keyHeaders(key: string | undefined, header: string | undefined): Record<string, string> {
  if (key === undefined) return {};
  return header === undefined ? { authorization: `Bearer ${key}` } : { [header]: key };
}

interface HttpFailure {
  readonly provider: string;
  readonly status: number;
  readonly said: string;
  readonly retryAfter: string | undefined;
}

function httpFailure({ provider, status, said, retryAfter }: HttpFailure): ToolError {
  const details = { code: "http_failure", status };
  const message = `${provider} answered with HTTP status ${status}${said === "" ? "" : `: ${said}`}`;
  if (status === 401 || status === 403) {
    return new ToolError(ErrorCode.PERMISSION_DENIED, message, { detailKind: "unauthorized", details });
  }
  if (status === 429) {
    const seconds = Number(retryAfter);
    const wait = retryAfter !== undefined && Number.isFinite(seconds) ? { retry_after_secs: seconds } : {};
    return new ToolError(ErrorCode.RATE_LIMITED, message, {
      retryable: true,
      details: { ...details, ...wait },
    });
  }
  return new ToolError(ErrorCode.EXECUTION_FAILED, message, { retryable: status >= 500, details });
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    // The caller says what that means.
    return undefined;
  }
}

/** `{ error: { message } }`, `{ error }` and `{ message }` are usual. */
function errorTextOf(answer: unknown): string {
  const error = property(answer, "error");
  const text = [property(error, "message"), error, property(answer, "message")].find(
    (candidate) => typeof candidate === "string",
  );
  return typeof text === "string" ? text : "";
}

/** A property of parsed JSON; undefined when there is none. */
export function property(value: unknown, key: string): unknown {
  return typeof value === "object" && value !== null ? Reflect.get(value, key) : undefined;
}

/** An address below a base URL: `endpoint("https://a/v1/", "x")` is `https://a/v1/x`. */
export function endpoint(baseUrl: string, path: string): URL {
  return new URL(path, baseUrl.endsWith("/") ? baseUrl : `${baseUrl}/`);
}
