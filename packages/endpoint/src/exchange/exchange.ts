import type { IncomingHttpHeaders, OutgoingHttpHeaders } from "node:http";
import type { Readable } from "node:stream";
import type { ConnectError } from "@connectrpc/connect";
import type { Connection } from "../listener/connection.ts";

/**
 * One request and its response, the same over HTTP/1.1 and HTTP/2.
 *
 * Every exchange ends in exactly one `onClose`. Writing after that does nothing.
 */
export interface Exchange {
  readonly connection: Connection;
  readonly httpVersion: "1.1" | "2.0";
  readonly method: string;
  /** Path with query, as sent. */
  readonly target: string;
  /** `:authority`, or the Host header. Empty when there is neither. */
  readonly authority: string;
  readonly headers: IncomingHttpHeaders;
  readonly body: Readable;
  /** Whether the whole request body has arrived. */
  readonly isRequestComplete: boolean;
  readonly areHeadersSent: boolean;
  readonly isClosed: boolean;

  /** Sends the response head alone; a body follows. */
  sendHead(status: number, headers: OutgoingHttpHeaders): void;
  /** Sends a response without a body. */
  sendEmpty(status: number, headers: OutgoingHttpHeaders): void;
  /** False: wait for `onDrain` or the close before writing on. */
  write(chunk: Uint8Array): boolean;
  /** Ends the response. Over HTTP/1.1 trailers need a chunked body. */
  end(trailers?: OutgoingHttpHeaders): void;
  /** Cuts the response off: RST_STREAM with CANCEL, or the HTTP/1.1 connection. */
  reset(): void;

  /** @param listener gets the reason when the exchange ended before its response was complete */
  onClose(listener: (reason: ConnectError | undefined) => void): void;
  onDrain(listener: () => void): void;
}
