/** What a queue is made of. */
export interface TurnQueueOptions<Item> {
  /** Items that may wait behind the running one. */
  readonly maxWaiting: number;
  /** Runs one item. Never rejects. */
  readonly run: (item: Item) => Promise<void>;
}

/** Runs items one after the other, first in, first out. */
export class TurnQueue<Item> {
  readonly #options: TurnQueueOptions<Item>;
  readonly #waiting: Item[] = [];
  readonly #background: Item[] = [];
  readonly #jobs: ((signal: AbortSignal) => Promise<void>)[] = [];
  #running: Item | undefined;
  #runningJob: AbortController | undefined;
  #idleWaiters: (() => void)[] = [];

  constructor(options: TurnQueueOptions<Item>) {
    this.#options = options;
  }

  get running(): Item | undefined {
    return this.#running;
  }

  get waitingCount(): number {
    return this.#waiting.length;
  }

  get isBusy(): boolean {
    return this.#running !== undefined || this.#runningJob !== undefined;
  }

  /** True when one more item would have to wait and may not. */
  get isFull(): boolean {
    return this.isBusy && this.#waiting.length >= this.#options.maxWaiting;
  }

  /** Starts the item, or puts it at the end. The caller checks {@link TurnQueue.isFull}. */
  add(item: Item): "started" | "waiting" {
    if (this.isBusy) {
      this.#waiting.push(item);
      return "waiting";
    }
    this.#start(item);
    return "started";
  }

  /** Starts the item, or lets it wait behind every other that comes until it starts. Never refused. */
  addBackground(item: Item): void {
    if (this.isBusy) this.#background.push(item);
    else this.#start(item);
  }

  /**
   * Runs a job while no item runs: at once, or when the running one has ended, before those that wait. The signal
   * aborts with {@link TurnQueue.stopJob}.
   */
  between<Result>(job: (signal: AbortSignal) => Promise<Result>): Promise<Result> {
    const { promise, resolve, reject } = Promise.withResolvers<Result>();
    const run = (signal: AbortSignal): Promise<void> => job(signal).then(resolve, reject);
    if (this.isBusy) this.#jobs.push(run);
    else this.#startJob(run);
    return promise;
  }

  /** Asks the running job to end; those that wait still get their turn. */
  stopJob(reason: Error): void {
    this.#runningJob?.abort(reason);
  }

  /** Takes a waiting item out. False: it does not wait (any more). */
  remove(item: Item): boolean {
    const index = this.#waiting.indexOf(item);
    if (index < 0) return false;
    this.#waiting.splice(index, 1);
    return true;
  }

  /** Takes out everything that waits; what waits in the background is dropped. */
  clear(): Item[] {
    this.#background.splice(0);
    return this.#waiting.splice(0);
  }

  /** Resolves when nothing runs or waits. */
  idle(): Promise<void> {
    if (!this.isBusy) return Promise.resolve();
    return new Promise((resolve) => this.#idleWaiters.push(resolve));
  }

  #start(item: Item): void {
    this.#running = item;
    void this.#options.run(item).then(() => this.#next());
  }

  #startJob(run: (signal: AbortSignal) => Promise<void>): void {
    const abort = new AbortController();
    this.#runningJob = abort;
    void run(abort.signal).then(() => this.#next());
  }

  #next(): void {
    this.#running = undefined;
    this.#runningJob = undefined;
    const job = this.#jobs.shift();
    if (job !== undefined) return this.#startJob(job);
    const next = this.#waiting.shift() ?? this.#background.shift();
    if (next !== undefined) this.#start(next);
    else for (const resolve of this.#idleWaiters.splice(0)) resolve();
  }
}
