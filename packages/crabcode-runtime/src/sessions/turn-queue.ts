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
  readonly #jobs: (() => Promise<void>)[] = [];
  #running: Item | undefined;
  #isJobRunning = false;
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
    return this.#running !== undefined || this.#isJobRunning;
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

  /** Runs a job while no item runs: at once, or when the running one has ended, before those that wait. */
  between<Result>(job: () => Promise<Result>): Promise<Result> {
    const { promise, resolve, reject } = Promise.withResolvers<Result>();
    const run = (): Promise<void> => job().then(resolve, reject);
    if (this.isBusy) this.#jobs.push(run);
    else this.#startJob(run);
    return promise;
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

  #startJob(run: () => Promise<void>): void {
    this.#isJobRunning = true;
    void run().then(() => this.#next());
  }

  #next(): void {
    this.#running = undefined;
    this.#isJobRunning = false;
    const job = this.#jobs.shift();
    if (job !== undefined) return this.#startJob(job);
    const next = this.#waiting.shift() ?? this.#background.shift();
    if (next !== undefined) this.#start(next);
    else for (const resolve of this.#idleWaiters.splice(0)) resolve();
  }
}
