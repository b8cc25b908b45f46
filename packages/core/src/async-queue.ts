import { abortReason } from "./abort-reason.ts";
import { TriviumError } from "./trivium-error.ts";

type Waiter<Value> = { resolve: (value: Value) => void; reject: (reason: Error) => void };

/**
 * A bounded first-in, first-out queue between producers and one consumer.
 *
 * A full queue makes {@link AsyncQueue.push} wait (back-pressure). The consumer iterates; leaving the loop closes
 * the queue, so that producers stop. Order is kept and nothing is lost: what was accepted before `end` or `fail`
 * is delivered before the end is seen.
 */
export class AsyncQueue<Item> implements AsyncIterableIterator<Item, undefined> {
  readonly capacity: number;
  readonly #items: IteratorYieldResult<Item>[] = [];
  readonly #producers: (Waiter<boolean> & { item: Item })[] = [];
  #consumer: Waiter<IteratorResult<Item, undefined>> | undefined;
  #state: "open" | "ended" | "closed" = "open";
  #failure: Error | undefined;

  /** @param capacity items held before `push` waits; at least 1 */
  constructor(capacity: number) {
    if (!(capacity >= 1)) throw new TriviumError("invalidInput", `capacity ${capacity} is below 1`);
    this.capacity = capacity;
  }

  /** Items accepted and not yet taken. */
  get size(): number {
    return this.#items.length;
  }

  /** True until `end`, `fail` or the consumer's leaving. */
  get isOpen(): boolean {
    return this.#state === "open";
  }

  /** Adds an item if there is room. False: full or not open; the item was not taken. */
  tryPush(item: Item): boolean {
    if (this.#state !== "open" || this.#producers.length > 0) return false;
    return this.#accept(item);
  }

  /**
   * Adds an item, waiting for room. Resolves to false when the queue is not open (any more): the item is dropped.
   *
   * @throws the reason of `signal` when it aborts while waiting; the item is not taken then.
   */
  push(item: Item, signal?: AbortSignal): Promise<boolean> {
    if (this.#state !== "open") return Promise.resolve(false);
    if (signal?.aborted === true) return Promise.reject(abortReason(signal));
    if (this.tryPush(item)) return Promise.resolve(true);
    return new Promise((resolve, reject) => {
      const producer = {
        item,
        resolve(taken: boolean) {
          signal?.removeEventListener("abort", onAbort);
          resolve(taken);
        },
        reject,
      };
      const onAbort = (): void => {
        const index = this.#producers.indexOf(producer);
        if (index >= 0) this.#producers.splice(index, 1);
        if (signal !== undefined) reject(abortReason(signal));
      };
      signal?.addEventListener("abort", onAbort, { once: true });
      this.#producers.push(producer);
    });
  }

  /** No more items. The consumer gets what is queued, then the end. Producers that still wait are turned away. */
  end(): void {
    this.#finish(undefined);
  }

  /** As `end`, but the consumer's loop throws `error` after the queued items. */
  fail(error: Error): void {
    this.#finish(error);
  }

  next(): Promise<IteratorResult<Item, undefined>> {
    const first = this.#items.shift();
    if (first !== undefined) {
      this.#refill();
      return Promise.resolve(first);
    }
    if (this.#state !== "open") return this.#endResult();
    if (this.#consumer !== undefined) {
      return Promise.reject(new TriviumError("internal", "a queue has one consumer, which awaits each item"));
    }
    return new Promise((resolve, reject) => {
      this.#consumer = { resolve, reject };
    });
  }

  /** The consumer leaves: the queue is emptied and closed, waiting producers resolve to false. */
  return(): Promise<IteratorResult<Item, undefined>> {
    this.#state = "closed";
    this.#failure = undefined;
    this.#items.length = 0;
    this.#release();
    return Promise.resolve({ done: true, value: undefined });
  }

  [Symbol.asyncIterator](): this {
    return this;
  }

  #accept(item: Item): boolean {
    if (this.#consumer !== undefined) {
      const consumer = this.#consumer;
      this.#consumer = undefined;
      consumer.resolve({ done: false, value: item });
      return true;
    }
    if (this.#items.length >= this.capacity) return false;
    this.#items.push({ done: false, value: item });
    return true;
  }

  #refill(): void {
    while (this.#items.length < this.capacity) {
      const producer = this.#producers.shift();
      if (producer === undefined) return;
      this.#items.push({ done: false, value: producer.item });
      producer.resolve(true);
    }
  }

  #finish(failure: Error | undefined): void {
    if (this.#state !== "open") return;
    this.#state = "ended";
    this.#failure = failure;
    this.#release();
  }

  #release(): void {
    for (const producer of this.#producers.splice(0)) producer.resolve(false);
    const consumer = this.#consumer;
    this.#consumer = undefined;
    if (consumer !== undefined) this.#endResult().then(consumer.resolve, consumer.reject);
  }

  #endResult(): Promise<IteratorResult<Item, undefined>> {
    const failure = this.#failure;
    this.#failure = undefined;
    return failure === undefined
      ? Promise.resolve({ done: true, value: undefined })
      : Promise.reject(failure);
  }
}
