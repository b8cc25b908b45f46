/** The two directions between us and the program of a language server. */
export interface ServerChannel {
  /** What the server says, to the end. One reader. Never throws. */
  readonly output: AsyncIterable<Uint8Array>;
  /** Resolves when more can be written. Never rejects: what nobody reads is dropped. */
  write(bytes: Uint8Array): Promise<void>;
  /** The server reads an end after what was written. */
  endInput(): void;
  /** Resolves with the reason when the program has ended. Never rejects. */
  readonly ended: Promise<string>;
  /** Kills the program and everything it has started. */
  stop(): Promise<void>;
}
