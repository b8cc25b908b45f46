import { CommandLog } from "./command-log.ts";
import type { CommandOutput, OutputChunk, OutputStream } from "./command-runner.ts";
import type { StreamReport } from "./supervisor/message.ts";

const nothing: CommandOutput = {
  head: new Uint8Array(),
  tail: new Uint8Array(),
  omittedBytes: 0,
  totalBytes: 0,
};

/** The server's side of one output of a command. */
export class CommandStream implements OutputStream {
  readonly #log: CommandLog;
  /** Asks the supervisor; undefined when there is nobody to ask. */
  readonly #ask: () => Promise<CommandOutput | undefined>;
  #kept: CommandOutput | undefined;

  constructor(logPath: string, ask: () => Promise<CommandOutput | undefined>) {
    this.#log = new CommandLog(logPath);
    this.#ask = ask;
  }

  get outputBytes(): number {
    return this.#log.announcedBytes;
  }

  async output(): Promise<CommandOutput> {
    return this.#kept ?? (await this.#ask()) ?? this.#kept ?? nothing;
  }

  readLog(offset: number, maxBytes: number): Promise<Uint8Array> {
    return this.#log.read(offset, maxBytes);
  }

  chunks(signal: AbortSignal): AsyncIterable<OutputChunk> {
    return this.#log.follow(signal);
  }

  /** For the run: so many bytes are in the log. */
  announce(totalBytes: number): void {
    this.#log.announce(totalBytes);
  }

  /** For the run: the result's output. */
  finish(kept: CommandOutput): void {
    this.#kept = kept;
    this.#log.announce(kept.totalBytes);
    this.#log.finish();
  }

  /** For the run: the supervisor is gone, and with it what it kept. */
  rebuild(headBytes: number, tailBytes: number): Promise<CommandOutput> {
    return this.#log.rebuild(headBytes, tailBytes);
  }
}

/** The outputs a message tells of, from the bytes attached to it. */
export function toOutputs(streams: readonly StreamReport[], bytes: Uint8Array): CommandOutput[] {
  let start = 0;
  const take = (length: number): Uint8Array => {
    // A copy: the bytes are part of a larger buffer.
    const piece = bytes.slice(start, start + length);
    start += length;
    return piece;
  };
  return streams.map(({ totalBytes, headLength, tailLength }) => {
    const head = take(headLength);
    const tail = take(tailLength);
    return { head, tail, totalBytes, omittedBytes: totalBytes - headLength - tailLength };
  });
}

/** The output of a command that did not run. */
export function noOutput(): CommandOutput {
  return nothing;
}
