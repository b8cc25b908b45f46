/**
 * One duplex of a connection: a pair of pipes or a WebSocket.
 *
 * A port: the connection knows nothing of what carries it.
 */
export interface Lane {
  /**
   * Payloads of the client's frames. The end is the client's clean end; leaving the iteration early is fine.
   *
   * Throws {@link ProtocolError} where frames are cut or too long.
   */
  readonly payloads: AsyncIterable<Uint8Array>;
  /** Writes one frame, prefix included. `onWritten` says that it has left this process, or never will. */
  write(frame: Buffer, onWritten: (error: Error | undefined) => void): void;
  /** Says goodbye after what was written; resolves when it is closed. */
  close(): Promise<void>;
  /** Cuts it, whatever is still to be written. */
  destroy(): void;
}
