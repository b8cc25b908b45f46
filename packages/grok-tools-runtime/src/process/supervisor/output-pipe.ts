import { spawnSync } from "node:child_process";
import { constants, fstatSync, openSync, rmSync } from "node:fs";
import { Socket } from "node:net";
import { join } from "node:path";
import type { NativeCalls } from "./native-calls.ts";

/** A real pipe: one end to read here, one to give to a child. */
export interface OutputPipe {
  /** Ends when the last writer is gone. Its owner destroys it. */
  readonly reader: Socket;
  /** Closed by the owner once the child has it. */
  readonly writeDescriptor: number;
  /**
   * The pipe as a mark of its holders. `descriptor` holds the inode: once that is free, any new file may get its
   * number. The owner closes it when it stops looking for holders.
   */
  readonly mark: PipeMark;
}

export interface PipeMark {
  readonly dev: number;
  readonly ino: number;
  readonly descriptor: number;
}

let count = 0;

/**
 * Opens a pipe through a FIFO that is unlinked at once.
 *
 * Node's own `"pipe"` is a socket for the child: opening `/dev/stderr` fails there.
 */
export function openOutputPipe(folder: string, native: NativeCalls | undefined): OutputPipe {
  const path = join(folder, `${process.pid}-${++count}.fifo`);
  if (native === undefined ? spawnSync("mkfifo", ["-m", "600", path]).status !== 0 : !native.makeFifo(path)) {
    throw new Error(`cannot make a FIFO in ${folder}`);
  }
  try {
    // The reading end first and without waiting; only then can the writing end be opened without a wait.
    const readDescriptor = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK);
    const reader = new Socket({ fd: readDescriptor, readable: true, writable: false });
    const writeDescriptor = openSync(path, constants.O_WRONLY);
    const { dev, ino } = fstatSync(writeDescriptor);
    const descriptor = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK);
    return { reader, writeDescriptor, mark: { dev, ino, descriptor } };
  } finally {
    rmSync(path, { force: true });
  }
}
