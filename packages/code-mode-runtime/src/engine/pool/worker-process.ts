import { type ChildProcess, spawn } from "node:child_process";
import { readdirSync, readFileSync } from "node:fs";
import { setPriority } from "node:os";
import { Duplex } from "node:stream";
import type { Clock, Logger } from "@trivium/core";
import { commandKind, encodeFrame, type Frame, FrameReader, reportKind } from "../frame.ts";
import type { RemoteCell } from "./remote-cell.ts";
import type { WorkerCommand } from "./worker-command.ts";

/** A worker yields to everything else that the machine does. */
const niceness = 10;
const memorySampleMs = 100;
const pageBytes = 4096;
const maxFrameBytes = 2 ** 29;
const maxStderrCharacters = 2_000;
/** With a thread that does not come back, a worker lives this long at most. */
const stuckGraceMs = 30_000;
/** Longest wait for the worker's word on an order to terminate. */
const terminateGraceMs = 250;
const maxStuckThreads = 1;

export interface WorkerProcessOptions {
  readonly command: WorkerCommand;
  readonly environment: Readonly<Record<string, string>>;
  readonly clock: Clock;
  readonly logger: Logger;
  /** Bytes of resident memory for nothing but the worker itself and what V8 takes beyond its limits. */
  readonly memoryHeadroomBytes: number;
  /** Bytes of resident memory beyond which it is ended whatever it holds. */
  readonly maxMemoryBytes: number;
  /** Called once, when the process is gone and its cells have ended. */
  readonly onLost: (worker: WorkerProcess) => void;
  /** Called when it has become free of cells, or fit for cells again. */
  readonly onChange: (worker: WorkerProcess) => void;
}

/** One worker process: its channel, its cells, and the guards that end it. `SIGKILL` is the only way out. */
export class WorkerProcess {
  readonly #options: WorkerProcessOptions;
  readonly #child: ChildProcess;
  readonly #channel: Duplex;
  readonly #cells = new Map<number, RemoteCell>();
  readonly #reader = new FrameReader(maxFrameBytes);
  readonly #exited: PromiseWithResolvers<void> = Promise.withResolvers();
  #memoryTimer: Disposable | undefined;
  #stuckTimer: Disposable | undefined;
  #stuckThreads = 0;
  #hasGreeted = false;
  #isGone = false;
  #lossText = "exec runtime lost";

  constructor(options: WorkerProcessOptions) {
    this.#options = options;
    const { command, environment } = options;
    this.#child = spawn(command.file, command.arguments, {
      cwd: "/",
      env: { ...environment },
      stdio: ["ignore", "ignore", "pipe", "pipe"],
    });
    const channel = this.#child.stdio[3];
    if (!(channel instanceof Duplex)) throw new Error("the worker has no channel");
    this.#channel = channel;
    channel.on("data", (chunk: Buffer) => this.#receive(chunk));
    // The end of the process tells the rest.
    channel.on("error", () => this.kill("its channel broke"));
    channel.on("close", () => this.kill("its channel closed"));
    this.#child.on("error", (error) => this.#gone(error.message));
    this.#child.on("exit", (code, signal) => this.#gone(`it ended with ${signal ?? `exit code ${code}`}`));
    this.#child.stderr?.setEncoding("utf8").on("data", (text: string) => {
      options.logger.warn(
        { workerPid: this.pid, text: text.slice(0, maxStderrCharacters) },
        "cell worker complains",
      );
    });
    // Neither the process nor its channels keep the server alive.
    this.#child.unref();
    unref(channel);
    unref(this.#child.stderr);
  }

  get pid(): number | undefined {
    return this.#child.pid;
  }

  get liveCells(): number {
    return this.#cells.size;
  }

  /** It has started and said so. */
  get hasGreeted(): boolean {
    return this.#hasGreeted;
  }

  /** It takes cells: it lives and no thread of it is stuck. */
  get isFit(): boolean {
    return !this.#isGone && this.#stuckThreads === 0;
  }

  start(cell: RemoteCell): void {
    this.#cells.set(cell.number, cell);
    this.send(cell.number, commandKind.start, cell.startFields());
    this.#watchMemory();
  }

  send(cell: number, kind: number, fields: readonly string[]): void {
    if (!this.#isGone) this.#channel.write(encodeFrame({ cell, kind, fields }));
  }

  /** Orders the end of a cell, and ends it here if the worker does not answer. */
  terminate(cell: RemoteCell): void {
    this.send(cell.number, commandKind.terminate, []);
    this.#options.clock.setTimer(terminateGraceMs, () => {
      if (!this.#cells.has(cell.number)) return;
      this.#end(cell.number, (ending) => ending.end({ type: "terminated" }));
      this.kill("it did not answer");
    });
  }

  /** Ends the process with everything in it. */
  kill(reason: string): void {
    if (this.#isGone) return;
    this.#options.logger.debug({ workerPid: this.pid, reason }, "cell worker is ended");
    if (!this.#child.kill("SIGKILL")) this.#gone(reason);
  }

  /** Ends the process and settles when it is gone. */
  async close(): Promise<void> {
    // What kept nothing alive so far is now waited for.
    this.#child.ref();
    this.kill("the engine closes");
    await this.#exited.promise;
  }

  #receive(chunk: Buffer): void {
    try {
      for (const frame of this.#reader.push(chunk)) this.#handle(frame);
    } catch (error) {
      this.#options.logger.error({ workerPid: this.pid, error }, "cell worker sent something malformed");
      this.kill("it broke the protocol");
    }
  }

  #handle(frame: Frame): void {
    const { cell, kind, fields } = frame;
    switch (kind) {
      case reportKind.hello:
        this.#hasGreeted = true;
        this.#lowerPriority();
        this.#options.onChange(this);
        return;
      case reportKind.stuck:
        this.#setStuck(Number(fields[0]));
        return;
      case reportKind.completed:
        return this.#end(cell, (ending) => ending.end({ type: "completed", errorText: undefined }));
      case reportKind.failed:
        return this.#end(cell, (ending) => ending.end({ type: "completed", errorText: fields[0] ?? "" }));
      case reportKind.terminated:
        return this.#end(cell, (ending) => ending.end({ type: "terminated" }));
      case reportKind.lost:
        return this.#end(cell, (ending) => ending.end({ type: "lost", errorText: fields[0] ?? "" }));
      default:
        this.#cells.get(cell)?.take(frame);
    }
  }

  #end(cell: number, tell: (cell: RemoteCell) => void): void {
    const ending = this.#cells.get(cell);
    if (ending === undefined) return;
    this.#cells.delete(cell);
    tell(ending);
    if (this.#cells.size > 0) return;
    if (this.#stuckThreads > 0) this.kill("it holds nothing but a stuck thread");
    this.#options.onChange(this);
  }

  /** The worker's threads were made with the server's priority; a process has one per thread on Linux. */
  #lowerPriority(): void {
    const { pid } = this;
    if (pid === undefined) return;
    try {
      if (process.platform === "linux") {
        for (const thread of readdirSync(`/proc/${pid}/task`)) setPriority(Number(thread), niceness);
      } else setPriority(pid, niceness);
    } catch (error) {
      this.#options.logger.debug({ workerPid: pid, error }, "cell worker keeps its priority");
    }
  }

  #setStuck(threads: number): void {
    this.#stuckThreads = threads;
    this.#options.logger.warn({ workerPid: this.pid, threads }, "cell worker has stuck threads");
    if (threads > maxStuckThreads || (threads > 0 && this.#cells.size === 0)) {
      this.kill("a thread of it is stuck");
      return;
    }
    if (threads === 0) {
      this.#stuckTimer?.[Symbol.dispose]();
      this.#stuckTimer = undefined;
      this.#options.onChange(this);
      return;
    }
    this.#stuckTimer ??= this.#options.clock.setTimer(stuckGraceMs, () =>
      this.kill("a thread of it is stuck"),
    );
  }

  /** Samples resident memory while it has cells: V8 does not count everything that a program can take. */
  #watchMemory(): void {
    if (process.platform !== "linux") return;
    this.#memoryTimer ??= this.#options.clock.setTimer(memorySampleMs, () => {
      this.#memoryTimer = undefined;
      if (this.#isGone || (this.#cells.size === 0 && this.#stuckThreads === 0)) return;
      if (this.#residentBytes() > this.#memoryBudgetBytes()) {
        if (this.#cells.size === 1) this.#lossText = "exec runtime out of memory";
        this.#options.logger.warn({ workerPid: this.pid }, "cell worker passes its memory budget");
        this.kill("it passes its memory budget");
        return;
      }
      this.#watchMemory();
    });
  }

  #residentBytes(): number {
    try {
      const [, pages = "0"] = readFileSync(`/proc/${this.pid}/statm`, "latin1").split(" ");
      return Number(pages) * pageBytes;
    } catch {
      // It has just ended.
      return 0;
    }
  }

  #memoryBudgetBytes(): number {
    let bytes = this.#options.memoryHeadroomBytes;
    for (const cell of this.#cells.values()) bytes += cell.heapLimitBytes;
    return Math.min(bytes, this.#options.maxMemoryBytes);
  }

  #gone(reason: string): void {
    if (this.#isGone) return;
    this.#isGone = true;
    this.#memoryTimer?.[Symbol.dispose]();
    this.#stuckTimer?.[Symbol.dispose]();
    this.#channel.destroy();
    this.#options.logger.info(
      { workerPid: this.pid, cells: this.#cells.size, reason },
      "cell worker is gone",
    );
    const lost = [...this.#cells.values()];
    this.#cells.clear();
    for (const cell of lost) cell.loseWorker(this.#lossText);
    this.#exited.resolve();
    this.#options.onLost(this);
  }
}

/** Streams of a child are sockets, whose types Node does not tell. */
function unref(stream: unknown): void {
  if (
    typeof stream === "object" &&
    stream !== null &&
    "unref" in stream &&
    typeof stream.unref === "function"
  ) {
    stream.unref();
  }
}
