import { constants } from "node:http2";
import {
  Code,
  ConnectError,
  type Interceptor,
  type StreamResponse,
  type UnaryResponse,
} from "@connectrpc/connect";
import type { CallTracker, TrackedCall } from "./call-tracker.ts";

/**
 * Gives broken calls the status gRPC means for them, where the Node client says something else:
 * a stream that the server did not process and a connection that was lost are `UNAVAILABLE`, a server that asks for
 * calm is `RESOURCE_EXHAUSTED`. A unary call that the server refused unprocessed is sent once more.
 *
 * @param tracker shared with the session manager; absent over HTTP/1.1, whose errors say enough
 */
export function resetInterceptor(tracker: CallTracker | undefined): Interceptor {
  return (next) => async (request) => {
    const send = async (call: TrackedCall): Promise<UnaryResponse | StreamResponse> => {
      try {
        const response = await next(request);
        return response.stream ? { ...response, message: mapped(response.message, call) } : response;
      } catch (thrown) {
        throw withStatus(thrown, call);
      }
    };
    const attempt = (): Promise<UnaryResponse | StreamResponse> =>
      tracker === undefined
        ? send({ isLost: false, rstCode: undefined })
        : tracker.send(request.header, send);
    if (request.stream) return attempt();
    return attempt().catch((thrown: unknown) => {
      if (thrown instanceof BrokenCallError && thrown.isUnprocessed) return attempt();
      throw thrown;
    });
  };
}

async function* mapped<Message>(messages: AsyncIterable<Message>, call: TrackedCall): AsyncIterable<Message> {
  try {
    yield* messages;
  } catch (thrown) {
    throw withStatus(thrown, call);
  }
}

/** What broke a call: HTTP/2's name for a reset, or one of two of ours. */
type Break = "NO_ERROR" | "REFUSED_STREAM" | "ENHANCE_YOUR_CALM" | "connection lost" | "no TLS connection";

const statusOf: Readonly<Record<Break, readonly [Code, string]>> = {
  NO_ERROR: [Code.Unavailable, "the server closed the call without an answer"],
  REFUSED_STREAM: [Code.Unavailable, "the server refused the call unprocessed"],
  ENHANCE_YOUR_CALM: [Code.ResourceExhausted, "the server asks for fewer calls"],
  "connection lost": [Code.Unavailable, "the connection to the server was lost"],
  "no TLS connection": [Code.Unavailable, "no TLS connection to the server"],
};

function withStatus(thrown: unknown, call: TrackedCall): unknown {
  const found = breakOf(thrown, call);
  if (found === undefined) return thrown;
  return new BrokenCallError(found, thrown);
}

/** A call that ended without an answer. */
class BrokenCallError extends ConnectError {
  /** Whether the server is known to have done nothing for it. */
  readonly isUnprocessed: boolean;

  constructor(reason: Break, cause: unknown) {
    const [code, message] = statusOf[reason];
    super(message, code, undefined, undefined, cause);
    this.isUnprocessed = reason === "REFUSED_STREAM";
  }
}

/** Undefined: the call did not break, it was answered or given up. */
function breakOf(thrown: unknown, call: TrackedCall): Break | undefined {
  // What the server said is an answer, whatever words it uses.
  if (!(thrown instanceof ConnectError) || thrown.isWireError) return undefined;
  const { isLost, rstCode } = call;
  for (let cause: unknown = thrown.cause; cause instanceof Error; cause = cause.cause) {
    if (!("code" in cause) || typeof cause.code !== "string") continue;
    if (cause.code === "ERR_HTTP2_STREAM_ERROR")
      return rstCode === undefined ? undefined : breakOfReset(rstCode);
    if (/^(ERR_SSL|ERR_TLS|CERT|DEPTH_ZERO|SELF_SIGNED|UNABLE_TO)_/.test(cause.code))
      return "no TLS connection";
    if (CONNECTION_LOST.has(cause.code)) return "connection lost";
  }
  // connect-node's own error, without a cause. A stream that was closed well has NO_ERROR too, so the words decide.
  if (rstCode === undefined || !thrown.rawMessage.startsWith("http/2 stream closed with error code "))
    return undefined;
  return isLost ? "connection lost" : breakOfReset(rstCode);
}

function breakOfReset(rstCode: number): Break | undefined {
  switch (rstCode) {
    case constants.NGHTTP2_NO_ERROR:
      return "NO_ERROR";
    case constants.NGHTTP2_REFUSED_STREAM:
      return "REFUSED_STREAM";
    case constants.NGHTTP2_ENHANCE_YOUR_CALM:
      return "ENHANCE_YOUR_CALM";
    default:
      return undefined;
  }
}

/** Codes of Node's errors for calls whose connection broke. */
const CONNECTION_LOST: ReadonlySet<string> = new Set([
  "ECONNRESET",
  "EPIPE",
  "ERR_HTTP2_INVALID_SESSION",
  "ERR_HTTP2_SESSION_ERROR",
  "ERR_HTTP2_STREAM_CANCEL",
  "ERR_STREAM_PREMATURE_CLOSE",
]);
