import { fstatSync } from "node:fs";
import { Socket } from "node:net";
import type { Readable, Writable } from "node:stream";

/**
 * Standard input and output as bytes.
 *
 * Node writes to a pipe on standard output synchronously: a client that does not read would stop the whole process. A
 * socket over the same descriptor waits for it in the background.
 */
export function standardPipes(): { readonly input: Readable; readonly output: Writable } {
  const kind = fstatSync(1);
  const isPipe = kind.isFIFO() || kind.isSocket();
  const output = isPipe ? new Socket({ fd: 1, readable: false, writable: true }) : process.stdout;
  return { input: process.stdin, output };
}
