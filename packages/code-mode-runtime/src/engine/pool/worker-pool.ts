import type { RemoteCell } from "./remote-cell.ts";
import type { WorkerProcess, WorkerProcessOptions } from "./worker-process.ts";

/** Cells in one worker from which on another worker is preferred. */
const crowdedCells = 64;
/** An idle worker that holds more than this is replaced by a fresh one, which takes about 80 MiB. */
const largeIdleBytes = 256 * 1024 * 1024;
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
    this.#addWorker();
  }

  get workers(): number {
    return this.#workers.size;
  }

  /** Workers that were replaced, since the start. */
  get restarts(): number {
    return this.#restarts;
  }

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
    if (own?.isFit === true) return own;
    const worker = this.#options.isDedicated ? this.#freeWorker() : this.#leastLoaded();
    this.#workerOfSession.set(sessionKey, worker);
    return worker;
  }

  #leastLoaded(): WorkerProcess {
    const fit = [...this.#workers].filter((worker) => worker.isFit);
    const greeted = fit.filter((worker) => worker.hasGreeted);
    const candidates = greeted.length > 0 ? greeted : fit;
    let best: WorkerProcess | undefined;
    for (const worker of candidates)
      if (best === undefined || worker.liveCells < best.liveCells) best = worker;
    const hasSpare = fit.length > greeted.length;
    const isBusy = best === undefined || best.liveCells > 0;
    if (best !== undefined && (!isBusy || hasSpare || fit.length >= this.#options.maxWorkers)) return best;
    const added = this.#addWorker();
    // The new one serves the next session: this one need not wait for a process to start.
    return best === undefined || best.liveCells >= crowdedCells ? added : best;
  }

  /** In dedicated mode: a worker without a session; another is started for the session after this one. */
  #freeWorker(): WorkerProcess {
    const taken = new Set(this.#workerOfSession.values());
    const free = [...this.#workers].find((worker) => worker.isFit && !taken.has(worker));
    this.#addWorker();
    return free ?? this.#addWorker();
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
    this.#addWorker();
  }

  /** A worker has nothing to do. Memory that programs took does not all come back while it lives. */
  #reconsider(worker: WorkerProcess, elapsedMs: number): void {
    const isLarge = worker.residentBytes > largeIdleBytes;
    const isSurplus = this.#workers.size > 1 && elapsedMs >= surplusIdleMs;
    if (this.#options.isDedicated || !(isLarge || isSurplus)) return;
    if (isLarge && this.#workers.size === 1) this.#addWorker();
    worker.kill("it is idle", true);
  }
}
