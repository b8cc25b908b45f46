import type { ChildProcess } from "node:child_process";
import { readdirSync } from "node:fs";
import { Socket } from "node:net";
import { setPriority } from "node:os";
import type { Duplex } from "node:stream";
import type { Clock, Logger } from "@trivium/core";
import {
  commandKind,
  type Frame,
  FrameReader,
  type OutgoingFrame,
  reportKind,
  writeFrame,
} from "../frame.ts";
import { LOST_TEXT, OUT_OF_MEMORY_TEXT } from "../loss-texts.ts";
import { AnswerWatch } from "./answer-watch.ts";
import type { DeathWatch } from "./death-watch.ts";
import { type MemoryBudget, MemoryJudge, residentBytes } from "./memory-judge.ts";
import type { RemoteCell } from "./remote-cell.ts";
import { spawnWorker } from "./spawn-worker.ts";
import type { WorkerCommand } from "./worker-command.ts";

/** A worker yields to everything else that the machine does. */
const niceness = 10;
const memorySampleMs = 100;
const maxFrameBytes = 2 ** 29;
const maxStderrCharacters = 2_000;
/** With a thread that does not come back, a worker lives this long at most. */
const stuckGraceMs = 30_000;
/** Without a cell, it is considered in such steps whether it is still needed. */
const idleMs = 5_000;
/** Longest wait for the worker's word on an order to terminate. */
const terminateGraceMs = 250;
const maxStuckThreads = 1;
/** Longest time from its start to its greeting. */
const startMs = 60_000;
/** Longest time in which the last words of a process that has ended are read. */
const lastWordsMs = 1_000;

export interface WorkerProcessOptions {
  readonly command: WorkerCommand;
  readonly environment: Readonly<Record<string, string>>;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly memoryBudget: MemoryBudget;
  /** Ends the process when the server is killed. */
  readonly deathWatch: DeathWatch;
  /** Called once, when the process is gone and its cells have ended. `isPlanned`: it had nothing to do. */
  readonly onLost: (worker: WorkerProcess, isPlanned: boolean) => void;
  /** Called when it has become fit, or unfit, for further cells. */
  readonly onFitness: (worker: WorkerProcess) => void;
  /** Called every few seconds while it has no cell, with the time since its last one. */
  readonly onIdle: (worker: WorkerProcess, elapsedMs: number) => void;
}

/** One worker process: its channel, its cells, and the guards that end it. `SIGKILL` is the only way out. */
export class WorkerProcess {
  readonly #options: WorkerProcessOptions;
  readonly #memory: MemoryJudge;
  readonly #answers: AnswerWatch;
  readonly #child: ChildProcess;
  readonly #pid: number;
  readonly #channel: Duplex;
  readonly #cells = new Map<number, RemoteCell>();
  readonly #reader = new FrameReader(maxFrameBytes);
  readonly #exited: PromiseWithResolvers<void> = Promise.withResolvers();
  readonly #startTimer: Disposable;
  #memoryTimer: Disposable | undefined;
  #stuckTimer: Disposable | undefined;
  #idleTimer: Disposable | undefined;
  #lastWordsTimer: Disposable | undefined;
  /** How the process ended, from then until its last words are read. */
  #exit: string | undefined;
  #isChannelClosed = false;
  #stuckThreads = 0;
  #hasGreeted = false;
  #isGone = false;
  #isPlanned = false;
  #isWorn = false;
  #lossText = LOST_TEXT;

  /** @throws {@link TriviumError} `unavailable` when no process can be started. */
  constructor(options: WorkerProcessOptions) {
    const { clock, command, deathWatch, environment, logger } = options;
    const { child, pid, channel } = spawnWorker(command, environment, logger);
    this.#options = options;
    this.#memory = new MemoryJudge(options.memoryBudget);
    this.#answers = new AnswerWatch(clock, {
      isWanted: () => this.#cells.size > 0,
      ask: () => this.send({ cell: 0, kind: commandKind.ping, fields: [] }),
      isSilent: () => this.kill("it does not answer"),
    });
    this.#child = child;
    this.#pid = pid;
    this.#channel = channel;
    deathWatch.add(pid);
    channel.on("data", (chunk: Buffer) => this.#receive(chunk));
    channel.on("error", () => this.kill("its channel broke"));
    channel.on("close", () => this.#closed());
    child.on("exit", (code, signal) => this.#ended(`it ended with ${signal ?? `exit code ${code}`}`));
    child.stderr?.setEncoding("utf8").on("data", (text: string) => {
      logger.warn({ workerPid: this.pid, text: text.slice(0, maxStderrCharacters) }, "cell worker complains");
    });
    this.#startTimer = clock.setTimer(startMs, () => this.kill("it did not start"));
    child.unref();
    keepAlive(child.stderr, false);
    keepAlive(channel, false);
  }

  get pid(): number {
    return this.#pid;
  }

  get liveCells(): number {
    return this.#cells.size;
  }

  /** It has started and said so. */
  get hasGreeted(): boolean {
    return this.#hasGreeted;
  }

  /** It takes cells: it lives, no thread of it is stuck, and it has kept to its memory. */
  get isFit(): boolean {
    return this.#isRunning && !this.#isWorn && this.#stuckThreads === 0;
  }

  /** Bytes of resident memory; 0 where the platform does not tell. */
  get residentBytes(): number {
    return residentBytes(this.pid);
  }

  get #isRunning(): boolean {
    return !this.#isGone && this.#exit === undefined;
  }

  start(cell: RemoteCell): void {
    this.#idleTimer?.[Symbol.dispose]();
    // Only live cells are worth waiting for.
    keepAlive(this.#channel, true);
    this.#cells.set(cell.number, cell);
    this.send({ cell: cell.number, kind: commandKind.start, fields: cell.startFields() });
    this.#watchMemory();
    if (this.#hasGreeted) this.#answers.start();
  }

  send(frame: OutgoingFrame): void {
    if (this.#isRunning) writeFrame(this.#channel, frame);
  }

  /** Orders the end of a cell, and ends it here if the worker does not answer soon. */
  terminate(cell: RemoteCell): void {
    this.send({ cell: cell.number, kind: commandKind.terminate, fields: [] });
    this.#options.clock.setTimer(terminateGraceMs, () => {
      this.#end(cell.number, (ending) => ending.end({ type: "terminated" }));
    });
  }

  /** Ends the process with everything in it. */
  kill(reason: string, isPlanned = false): void {
    if (!this.#isRunning) return;
    this.#isPlanned ||= isPlanned;
    this.#options.logger.debug({ workerPid: this.pid, reason }, "cell worker is ended");
    if (!this.#child.kill("SIGKILL")) this.#gone(reason);
  }

  /** Ends the process and settles when it is gone. */
  async close(): Promise<void> {
    // What kept nothing alive so far is now waited for.
    this.#child.ref();
    keepAlive(this.#channel, true);
    this.kill("the engine closes", true);
    await this.#exited.promise;
  }

  #receive(chunk: Buffer): void {
    this.#answers.heard();
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
        this.#startTimer[Symbol.dispose]();
        this.#lowerPriority();
        if (this.#cells.size === 0) this.#countIdle(0);
        else this.#answers.start();
        return;
      case reportKind.pong:
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
    keepAlive(this.#channel, false);
    this.#becomeIdle();
  }

  /** The worker's threads were made with the server's priority; a process has one per thread on Linux. */
  #lowerPriority(): void {
    const { pid } = this;
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
    } else {
      this.#stuckTimer ??= this.#options.clock.setTimer(stuckGraceMs, () =>
        this.kill("a thread of it is stuck"),
      );
    }
    this.#options.onFitness(this);
  }

  /** Samples resident memory while it has cells: V8 does not count everything that a program can take. */
  #watchMemory(): void {
    this.#memoryTimer ??= this.#options.clock.setTimer(memorySampleMs, () => {
      this.#memoryTimer = undefined;
      if (!this.#isRunning || (this.#cells.size === 0 && this.#stuckThreads === 0)) return;
      this.#judgeMemory();
      this.#watchMemory();
    });
  }

  #judgeMemory(): void {
    const bytes = residentBytes(this.pid);
    const verdict = this.#memory.judge(
      bytes,
      [...this.#cells.values()].map((cell) => cell.heapLimitBytes),
    );
    if (verdict === "fine" || verdict === "wait") return;
    this.#options.logger.warn(
      { workerPid: this.pid, bytes, verdict },
      "cell worker passes its memory budget",
    );
    if (verdict === "kill") {
      if (this.#cells.size === 1) this.#lossText = OUT_OF_MEMORY_TEXT;
      this.kill("it passes its memory budget");
      return;
    }
    if (verdict === "relieve") this.send({ cell: 0, kind: commandKind.relieve, fields: [] });
    if (!this.#isWorn) {
      // What it took may never come back: it serves its cells to their end, and no others.
      this.#isWorn = true;
      this.#options.onFitness(this);
    }
  }

  #becomeIdle(): void {
    if (this.#stuckThreads > 0) this.kill("it holds nothing but a stuck thread");
    else if (this.#isWorn) this.kill("it has taken too much memory");
    else this.#countIdle(0);
  }

  #countIdle(elapsedMs: number): void {
    this.#idleTimer?.[Symbol.dispose]();
    this.#idleTimer = this.#options.clock.setTimer(idleMs, () => {
      this.#countIdle(elapsedMs + idleMs);
      this.#options.onIdle(this, elapsedMs + idleMs);
    });
  }

  /** The process has ended. What it said before may still be on its way. */
  #ended(reason: string): void {
    // At once: its id may soon be another's.
    this.#options.deathWatch.remove(this.#pid);
    if (!this.#isRunning) return;
    this.#exit = reason;
    if (this.#isChannelClosed) this.#gone(reason);
    else this.#lastWordsTimer = this.#options.clock.setTimer(lastWordsMs, () => this.#gone(reason));
  }

  #closed(): void {
    this.#isChannelClosed = true;
    if (this.#exit === undefined) this.kill("its channel closed");
    else this.#gone(this.#exit);
  }

  #gone(reason: string): void {
    if (this.#isGone) return;
    this.#isGone = true;
    this.#options.deathWatch.remove(this.#pid);
    this.#answers[Symbol.dispose]();
    this.#lastWordsTimer?.[Symbol.dispose]();
    this.#startTimer[Symbol.dispose]();
    this.#memoryTimer?.[Symbol.dispose]();
    this.#stuckTimer?.[Symbol.dispose]();
    this.#idleTimer?.[Symbol.dispose]();
    this.#channel.destroy();
    this.#options.logger.info(
      { workerPid: this.pid, cells: this.#cells.size, reason },
      "cell worker is gone",
    );
    const lost = [...this.#cells.values()];
    this.#cells.clear();
    for (const cell of lost) cell.loseWorker(this.#lossText);
    this.#exited.resolve();
    this.#options.onLost(this, this.#isPlanned);
  }
}

/** Whether a stream of the child keeps the server's process from ending. */
function keepAlive(stream: unknown, isWanted: boolean): void {
  if (!(stream instanceof Socket)) return;
  if (isWanted) stream.ref();
  else stream.unref();
}
