import {
  Code,
  ConnectError,
  type Interceptor,
  type StreamResponse,
  type UnaryResponse,
} from "@connectrpc/connect";

/**
 * Gives broken calls the status gRPC means for them, where the Node client says `INTERNAL` or `ABORTED`:
 * a stream that the server did not process or a connection that was lost is `UNAVAILABLE`, a server that asks for
 * calm is `RESOURCE_EXHAUSTED`. A unary call that the server refused unprocessed is sent once more.
 */
export const resetInterceptor: Interceptor = (next) => async (request) => {
  let response: UnaryResponse | StreamResponse;
  try {
    response = await next(request);
  } catch (thrown) {
    if (request.stream || resetOf(thrown)?.code !== "REFUSED_STREAM") throw withStatus(thrown);
    try {
      response = await next(request);
    } catch (again) {
      throw withStatus(again);
    }
  }
  return response.stream ? { ...response, message: mapped(response.message) } : response;
};

async function* mapped<Message>(messages: AsyncIterable<Message>): AsyncIterable<Message> {
  try {
    yield* messages;
  } catch (thrown) {
    throw withStatus(thrown);
  }
}

/** Statuses by the name of what happened to the stream or its connection. */
const statusOf: Readonly<Record<string, Code>> = {
  NO_ERROR: Code.Unavailable,
  REFUSED_STREAM: Code.Unavailable,
  ENHANCE_YOUR_CALM: Code.ResourceExhausted,
  CONNECTION_LOST: Code.Unavailable,
};

function withStatus(thrown: unknown): unknown {
  const reset = resetOf(thrown);
  const status = reset && statusOf[reset.code];
  if (reset === undefined || status === undefined) return thrown;
  return new ConnectError(reset.message, status, undefined, undefined, thrown);
}

/** What the Node client's error says of the transport, or undefined when the server itself answered. */
function resetOf(thrown: unknown): { code: string; message: string } | undefined {
  if (!(thrown instanceof ConnectError)) return undefined;
  const { rawMessage: message } = thrown;
  const early = /^http\/2 stream closed with error code ([A-Z_]+) /.exec(message);
  if (early?.[1] !== undefined) return { code: early[1], message };
  for (let cause: unknown = thrown.cause; cause instanceof Error; cause = cause.cause) {
    if (!("code" in cause) || typeof cause.code !== "string") continue;
    if (cause.code === "ERR_HTTP2_STREAM_ERROR") {
      const [, name] = /NGHTTP2_([A-Z_]+)/.exec(cause.message) ?? [];
      if (name !== undefined) return { code: name, message: `the server reset the call with ${name}` };
    }
    if (/^(ERR_SSL|ERR_TLS|CERT|DEPTH_ZERO|SELF_SIGNED|UNABLE_TO)_/.test(cause.code)) {
      return { code: "CONNECTION_LOST", message: `no TLS connection: ${cause.code}` };
    }
    if (CONNECTION_LOST.has(cause.code))
      return { code: "CONNECTION_LOST", message: "the connection was lost" };
  }
  return undefined;
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
