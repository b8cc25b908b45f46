import type { IncomingHttpHeaders, OutgoingHttpHeaders } from "node:http";
import type { ConnectError } from "@connectrpc/connect";
import type { Exchange } from "../exchange/exchange.ts";
import type { CallProtocol } from "./call-protocol.ts";
import {
  codeToHttpStatus,
  createEndStreamSerialization,
  encodeEnvelope,
  endStreamFlag,
  errorToJsonBytes,
  setTrailerStatus,
  trailerFlag,
  trailerSerialize,
} from "./connect-protocol.ts";
import { toNodeHeaders } from "./headers.ts";

const endStream = createEndStreamSerialization(undefined);

/**
 * Ends a call with a status, in the form its protocol has for that, whether or not its response has begun.
 *
 * @param headers what every response of this endpoint carries
 */
export function answerError(
  exchange: Exchange,
  protocol: CallProtocol,
  { error, headers }: { error: ConnectError; headers: OutgoingHttpHeaders },
): void {
  if (exchange.areHeadersSent) {
    endWithError(exchange, protocol, error);
    return;
  }
  const type = contentTypeOf(protocol, exchange.headers);
  switch (protocol) {
    case "grpc":
    case "grpc-web":
      exchange.sendEmpty(200, {
        ...headers,
        "content-type": type,
        ...toNodeHeaders(setTrailerStatus(new Headers(), error)),
      });
      return;
    case "connect-unary": {
      const body = errorToJsonBytes(error, undefined);
      exchange.sendHead(codeToHttpStatus(error.code), {
        ...headers,
        ...toNodeHeaders(error.metadata),
        "content-type": type,
        "content-length": body.byteLength,
      });
      exchange.write(body);
      exchange.end();
      return;
    }
    case "connect-stream":
      exchange.sendHead(200, { ...headers, "content-type": type });
      endWithError(exchange, protocol, error);
  }
}

/** The last bytes of a response that has begun. A unary Connect response cannot take its status back: it is cut. */
function endWithError(exchange: Exchange, protocol: CallProtocol, error: ConnectError): void {
  switch (protocol) {
    case "grpc":
      exchange.end(toNodeHeaders(setTrailerStatus(new Headers(), error)));
      return;
    case "grpc-web":
      exchange.write(encodeEnvelope(trailerFlag, trailerSerialize(setTrailerStatus(new Headers(), error))));
      exchange.end();
      return;
    case "connect-stream":
      exchange.write(encodeEnvelope(endStreamFlag, endStream.serialize({ metadata: error.metadata, error })));
      exchange.end();
      return;
    case "connect-unary":
      exchange.reset();
  }
}

/** Errors of unary Connect calls are JSON whatever the messages are. */
function contentTypeOf(protocol: CallProtocol, headers: IncomingHttpHeaders): string {
  if (protocol === "connect-unary") return "application/json";
  return headers["content-type"]?.split(";", 1)[0]?.trim().toLowerCase() ?? "application/grpc";
}
