import { commandKind } from "../frame.ts";
import type { RemoteCell } from "./remote-cell.ts";
import type { WorkerProcess, WorkerProcessOptions } from "./worker-process.ts";

/** Cells in one worker from which on another worker is preferred. */
const crowdedCells = 64;
/** A session moves when its worker has so many cells more than another. */
const rebalanceCells = 4;
/** An idle worker that holds more is replaced by a fresh one, which takes about 80 MiB. */
const largeIdleBytes = 320 * 1024 * 1024;
/** The same for one that keeps nothing for its sessions any more. */
const unusedIdleBytes = 160 * 1024 * 1024;
/** Workers beyond the first end when they have had no cell for so long. */
const surplusIdleMs = 60_000;

export interface WorkerPoolOptions {
  readonly maxWorkers: number;
  /** One worker per session. */
  readonly isDedicated: boolean;
  readonly createWorker: (
    events: Pick<WorkerProcessOptions, "onLost" | "onFitness" | "onIdle">,
  ) => WorkerProcess;
}

/** The worker processes of an engine, and which session lives in which. */
export class WorkerPool {
  readonly #options: WorkerPoolOptions;
  readonly #workers = new Set<WorkerProcess>();
  readonly #workerOfSession = new Map<string, WorkerProcess>();
  #restarts = 0;
  #isClosing = false;

  constructor(options: WorkerPoolOptions) {
    this.#options = options;
    this.#tryAddWorker();
  }

  get workers(): number {
    return this.#workers.size;
  }

  /** Workers that were replaced, since the start. */
  get restarts(): number {
    return this.#restarts;
  }

  /** @throws {@link TriviumError} `unavailable` when there is no worker for it and none can be started. */
  start(sessionKey: string, cell: RemoteCell): void {
    cell.runIn(this.#workerFor(sessionKey));
  }

  workerOf(sessionKey: string): WorkerProcess | undefined {
    return this.#workerOfSession.get(sessionKey);
  }

  /** Forgets the session. Its worker ends with it when it is the session's own. */
  releaseSession(sessionKey: string): void {
    const worker = this.#workerOfSession.get(sessionKey);
    this.#workerOfSession.delete(sessionKey);
    if (this.#options.isDedicated) worker?.kill("its session is gone", true);
  }

  async close(): Promise<void> {
    this.#isClosing = true;
    await Promise.all([...this.#workers].map((worker) => worker.close()));
  }

  #workerFor(sessionKey: string): WorkerProcess {
    const own = this.#workerOfSession.get(sessionKey);
    const worker = this.#options.isDedicated ? this.#dedicatedWorker(own) : this.#sharedWorker(own);
    if (worker !== own) {
      own?.send({ cell: 0, kind: commandKind.releaseSession, fields: [sessionKey] });
      this.#workerOfSession.set(sessionKey, worker);
    }
    return worker;
  }

  #dedicatedWorker(own: WorkerProcess | undefined): WorkerProcess {
    return own?.isFit === true ? own : this.#freeWorker();
  }

  /** The session's worker, unless another has far less to do; more workers are started while all are busy. */
  #sharedWorker(own: WorkerProcess | undefined): WorkerProcess {
    const isCrowded = [...this.#workers].every((worker) => !worker.isFit || worker.liveCells > 0);
    const added = isCrowded && this.#fitCount() < this.#options.maxWorkers ? this.#tryAddWorker() : undefined;
    // A session that can run at once does not wait for a process to start.
    const best = this.#leastLoaded((worker) => worker.hasGreeted) ?? this.#leastLoaded(() => true);
    if (own?.isFit === true && (best === undefined || own.liveCells - best.liveCells < rebalanceCells))
      return own;
    if (best === undefined || best.liveCells >= crowdedCells) return added ?? best ?? this.#addWorker();
    return best;
  }

  #fitCount(): number {
    return [...this.#workers].filter((worker) => worker.isFit).length;
  }

  #leastLoaded(isCandidate: (worker: WorkerProcess) => boolean): WorkerProcess | undefined {
    let best: WorkerProcess | undefined;
    for (const worker of this.#workers) {
      if (!worker.isFit || !isCandidate(worker)) continue;
      if (best === undefined || worker.liveCells < best.liveCells) best = worker;
    }
    return best;
  }

  /** In dedicated mode: a worker without a session; another is started for the session after this one. */
  #freeWorker(): WorkerProcess {
    const taken = new Set(this.#workerOfSession.values());
    const free = [...this.#workers].find((worker) => worker.isFit && !taken.has(worker)) ?? this.#addWorker();
    this.#tryAddWorker();
    return free;
  }

  /** Where another worker would be good to have. */
  #tryAddWorker(): WorkerProcess | undefined {
    try {
      return this.#addWorker();
    } catch {
      // The process that failed has been logged; whoever needs one tries again.
      return undefined;
    }
  }

  #addWorker(): WorkerProcess {
    const worker = this.#options.createWorker({
      onLost: (lost, isPlanned) => this.#lost(lost, isPlanned),
      onFitness: () => this.#ensureSpare(),
      onIdle: (idle, elapsedMs) => this.#reconsider(idle, elapsedMs),
    });
    this.#workers.add(worker);
    return worker;
  }

  #lost(worker: WorkerProcess, isPlanned: boolean): void {
    this.#workers.delete(worker);
    for (const [sessionKey, own] of this.#workerOfSession) {
      if (own === worker) this.#workerOfSession.delete(sessionKey);
    }
    if (this.#isClosing) return;
    if (!isPlanned) this.#restarts += 1;
    // A worker that never came up would only fail again: the next cell tries.
    if (worker.hasGreeted) this.#ensureSpare();
  }

  /** Keeps one worker that can take the next session at once. */
  #ensureSpare(): void {
    if (this.#isClosing) return;
    const taken = this.#options.isDedicated ? new Set(this.#workerOfSession.values()) : undefined;
    for (const worker of this.#workers) if (worker.isFit && taken?.has(worker) !== true) return;
    this.#tryAddWorker();
  }

  /** A worker has nothing to do. Memory that programs took does not all come back while it lives. */
  #reconsider(worker: WorkerProcess, elapsedMs: number): void {
    if (this.#options.isDedicated) return;
    const bytes = worker.residentBytes;
    const isSurplus = elapsedMs >= surplusIdleMs;
    const isLarge = bytes > (isSurplus ? unusedIdleBytes : largeIdleBytes);
    if (!isLarge && !isSurplus) return;
    const others = [...this.#workers].filter((other) => other !== worker && other.isFit);
    const ready = others.filter((other) => other.hasGreeted);
    // The largest goes first. One that waits for another to start is asked again.
    if (ready.some((other) => isLarge || other.residentBytes <= bytes)) worker.kill("it is idle", true);
    else if (isLarge && others.length === 0) this.#tryAddWorker();
  }
}
