import { Code, ConnectError } from "@connectrpc/connect";

/** The client reset the call: it lost interest. */
export function cancelledByClient(): ConnectError {
  return new ConnectError("the client cancelled the call", Code.Canceled);
}

/**
 * The connection is gone. Over HTTP/1.1 that is also all one can see of a cancel.
 *
 * Not `canceled`: a handler may go on for a client that is expected back.
 */
export function connectionLost(): ConnectError {
  return new ConnectError("the connection to the client was lost", Code.Aborted);
}
