import { constants } from "node:fs";
import { open, rename, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { abortable } from "@trivium/core";
import type { Command } from "../process/command-runner.ts";
import type { ResourceDefinition } from "../session-resource.ts";
import { logFolder } from "./log-folder.ts";
import { STATE_END, statefulScript } from "./state-script.ts";

/** More than any shell has to remember. */
const MAX_STATE_BYTES = 4 * 1024 * 1024;

/** A command, and the file with what its shell begins with as long as there is no state. */
export interface ShellBegin {
  readonly command: string;
  readonly from: string | undefined;
}

/** The turn of a foreground command: the next one waits until it is over. */
export interface ShellTurn {
  /** What bash runs. */
  readonly script: string;
  /** File for the state that the command leaves. */
  readonly stateFile: string;
  /** The command has ended, or was not started: the state it has left is taken over, and the turn is over. */
  end(): Promise<void>;
  /** The turn is over though the command goes on; what it leaves will not be taken over. */
  giveUp(): void;
}

/**
 * The state of a session's shell. Every command runs in a fresh process, in the state that the last foreground command
 * has left, so that a broken shell never breaks the next command.
 */
export class ShellState {
  readonly #file: string;
  #hasState = false;
  #directory: string | undefined;
  #lastTurn: Promise<void> = Promise.resolve();
  readonly #turns = new WeakMap<Command, ShellTurn>();

  constructor(folder: string) {
    this.#file = join(folder, ".shell-state");
  }

  /** The folder of the shell; undefined before the first command has ended. */
  get directory(): string | undefined {
    return this.#directory;
  }

  /** What bash runs for a command that has the state but does not change it. */
  backgroundScript({ command, from }: ShellBegin): string {
    return statefulScript(command, { from: this.#from ?? from, into: undefined });
  }

  /**
   * Waits for the commands before it.
   *
   * @throws the reason of `signal` when it aborts first.
   */
  async takeTurn({ command, from }: ShellBegin, logPath: string, signal: AbortSignal): Promise<ShellTurn> {
    const before = this.#lastTurn;
    const { promise: isOver, resolve: over } = Promise.withResolvers<void>();
    this.#lastTurn = before.then(() => isOver);
    const stateFile = `${logPath}.state`;
    try {
      await abortable(before, signal);
      await writeFile(stateFile, "", { mode: 0o600 });
    } catch (thrown) {
      over();
      throw thrown;
    }
    let isGivenUp = false;
    return {
      script: statefulScript(command, { from: this.#from ?? from, into: stateFile }),
      stateFile,
      end: async () => {
        try {
          if (!isGivenUp) await this.#adopt(stateFile);
          await rm(stateFile, { force: true });
        } finally {
          over();
        }
      },
      giveUp: () => {
        isGivenUp = true;
        over();
      },
    };
  }

  /** Remembers whose turn it is. */
  began(running: Command, turn: ShellTurn): void {
    this.#turns.set(running, turn);
  }

  /** A command is moved to the background: the next one need not wait for it. */
  detach(running: Command): void {
    this.#turns.get(running)?.giveUp();
  }

  get #from(): string | undefined {
    return this.#hasState ? this.#file : undefined;
  }

  /** A state that is missing, cut off or not a state changes nothing. */
  async #adopt(stateFile: string): Promise<void> {
    const bytes = await readState(stateFile);
    if (bytes === undefined) return;
    const border = bytes.indexOf(0);
    if (border < 0 || !bytes.toString("utf8").endsWith(`\n${STATE_END}`)) return;
    const next = `${this.#file}.next`;
    await writeFile(next, bytes.subarray(border + 1), { mode: 0o600 });
    await rename(next, this.#file);
    this.#hasState = true;
    this.#directory = bytes.toString("utf8", 0, border);
  }
}

/** The command may have put anything in the place of its file. */
async function readState(path: string): Promise<Buffer | undefined> {
  const flags = constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK;
  const opened = await open(path, flags).catch(() => undefined);
  if (opened === undefined) return undefined;
  await using file = opened;
  const stats = await file.stat();
  if (!stats.isFile() || stats.size === 0 || stats.size > MAX_STATE_BYTES) return undefined;
  const { buffer, bytesRead } = await file.read(Buffer.alloc(stats.size), 0, stats.size, 0);
  return buffer.subarray(0, bytesRead);
}

/** The state of a session's shell. */
export const shellState: ResourceDefinition<ShellState> = {
  name: "shell state",
  create: ({ sessionFolder }) => new ShellState(logFolder(sessionFolder)),
};
