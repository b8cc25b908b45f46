/** An open WebSocket on the side of the server. A port: which library speaks the protocol does not matter. */
export interface WebSocket {
  /** Sets who is told of the peer. Once, right after the opening. */
  listen(listener: WebSocketListener): void;
  /** Sends one binary message. `onSent` comes when it has left this process, or never will. */
  send(message: Buffer, onSent: (error: Error | undefined) => void): void;
  /** Asks whether the peer is there; its answer is told as `alive`. */
  ping(): void;
  /** Nothing more is read until {@link WebSocket.resume}; what was read already may still be told. */
  pause(): void;
  resume(): void;
  /** Starts the closing handshake after what was sent. */
  close(): void;
  /** Cuts the connection. */
  terminate(): void;
}

/** What a WebSocket tells. */
export interface WebSocketListener {
  message(data: Buffer, isBinary: boolean): void;
  alive(): void;
  /** The last call. `error` when it ended otherwise than by a closing handshake or the end of the stream. */
  closed(error: Error | undefined): void;
}
