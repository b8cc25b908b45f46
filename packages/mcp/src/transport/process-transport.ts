import type { Transport } from "@modelcontextprotocol/sdk/shared/transport.js";
import type { JSONRPCMessage } from "@modelcontextprotocol/sdk/types.js";
import { abortable, type Clock, linkSignals, TriviumError } from "@trivium/core";
import type { ServerProcess, ServerProcessEnd } from "../server-process.ts";
import { LineSplitter } from "./line-splitter.ts";

/** Time a program has to end after its input has ended. */
const EXIT_GRACE_MS = 3000;

/** One message a line over a program's standard input and output. */
export class ProcessTransport implements Transport {
  onclose?: () => void;
  onerror?: (error: Error) => void;
  onmessage?: (message: JSONRPCMessage) => void;
  readonly #process: ServerProcess;
  readonly #clock: Clock;
  readonly #parse: (line: string) => JSONRPCMessage;
  #isClosed = false;

  constructor(process: ServerProcess, clock: Clock, parse: (line: string) => JSONRPCMessage) {
    this.#process = process;
    this.#clock = clock;
    this.#parse = parse;
  }

  start(): Promise<void> {
    void this.#read();
    return Promise.resolve();
  }

  async send(message: JSONRPCMessage): Promise<void> {
    if (this.#isClosed) throw new TriviumError("unavailable", "the server's program has ended");
    await this.#process.write(Buffer.from(`${JSON.stringify(message)}\n`));
  }

  /** Ends the input, waits, kills. */
  async close(): Promise<void> {
    this.#tellClosed();
    this.#process.endInput();
    using limit = linkSignals([], { timeoutMs: EXIT_GRACE_MS, clock: this.#clock });
    await abortable(this.#process.ended, limit.signal).catch(() => {
      // It takes too long: killed below.
    });
    await this.#process.stop();
  }

  /** How the program ended. */
  get ended(): Promise<ServerProcessEnd> {
    return this.#process.ended;
  }

  async #read(): Promise<void> {
    const lines = new LineSplitter();
    try {
      for await (const chunk of this.#process.output) {
        for (const line of lines.push(chunk)) this.#deliver(line);
      }
    } catch (cause) {
      this.onerror?.(cause instanceof Error ? cause : new Error(String(cause)));
    }
    // No more can come: either it has ended or it is of no more use.
    await this.#process.stop();
    this.#tellClosed();
  }

  #deliver(line: string): void {
    if (line.trim() === "") return;
    let message: JSONRPCMessage;
    try {
      message = this.#parse(line);
    } catch (cause) {
      // Programs print other things too; that must not end the connection.
      this.onerror?.(new TriviumError("dataLoss", "the server wrote a line that is no message", { cause }));
      return;
    }
    this.onmessage?.(message);
  }

  #tellClosed(): void {
    if (this.#isClosed) return;
    this.#isClosed = true;
    this.onclose?.();
  }
}
