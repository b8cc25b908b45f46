import type {
  Command,
  CommandEnd,
  CommandOutput,
  CommandStatus,
  OutputChunk,
  OutputStream,
} from "../process/command-runner.ts";

/** A command with something to be done between its end and the news of it. */
export class SettledCommand implements Command {
  readonly ended: Promise<CommandEnd>;
  readonly #command: Command;

  /** @param settle must not fail */
  constructor(command: Command, settle: (end: CommandEnd) => Promise<CommandEnd>) {
    this.#command = command;
    this.ended = command.ended.then(settle);
  }

  get commandId(): string {
    return this.#command.commandId;
  }

  get pid(): number | undefined {
    return this.#command.pid;
  }

  get status(): CommandStatus {
    return this.#command.status;
  }

  get startedAtMs(): number {
    return this.#command.startedAtMs;
  }

  get stderr(): OutputStream | undefined {
    return this.#command.stderr;
  }

  get vacated(): Promise<void> {
    return this.#command.vacated;
  }

  get outputBytes(): number {
    return this.#command.outputBytes;
  }

  output(): Promise<CommandOutput> {
    return this.#command.output();
  }

  readLog(offset: number, maxBytes: number): Promise<Uint8Array> {
    return this.#command.readLog(offset, maxBytes);
  }

  chunks(signal: AbortSignal): AsyncIterable<OutputChunk> {
    return this.#command.chunks(signal);
  }

  kill(reason: "cancelled" | "killed" | "session-ended", graceMs: number): Promise<CommandEnd> {
    return this.#command.kill(reason, graceMs);
  }

  release(): Promise<void> {
    return this.#command.release();
  }
}
