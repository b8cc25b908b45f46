import type { Clock } from "@trivium/core";

/** Options of an {@link EventChannel}. */
export interface EventChannelOptions<Item> {
  readonly clock: Clock;
  /** Idle time after which `heartbeat` is sent; 0 sends none. */
  readonly heartbeatIntervalMs: number;
  readonly heartbeat: Item;
  /** Bytes an item holds while it waits. */
  readonly weigh: (item: Item) => number;
  /** An item left the backlog, so there is room. */
  readonly onTaken?: () => void;
  /** The consumer left before the end. */
  readonly onLeft: () => void;
}

/** A consumer that takes items as they are pushed. */
interface Listener<Item> {
  readonly onItem: (item: Item) => void;
  readonly onEnd: (failure: Error | undefined) => void;
}

/**
 * One consumer's stream of events, with heartbeats while it is idle.
 *
 * The consumer iterates, or listens. Producers never wait: whoever pushes looks at {@link EventChannel.size} or {@link EventChannel.backlogBytes} first.
 */
export class EventChannel<Item> implements AsyncIterableIterator<Item, undefined> {
  readonly #options: EventChannelOptions<Item>;
  #backlog: Item[] = [];
  #first = 0;
  #backlogBytes = 0;
  #consumer: PromiseWithResolvers<IteratorResult<Item, undefined>> | undefined;
  #listener: Listener<Item> | undefined;
  #timer: Disposable | undefined;
  #isOpen = true;
  #failure: Error | undefined;

  constructor(options: EventChannelOptions<Item>) {
    this.#options = options;
    this.#restartHeartbeat();
  }

  /** Items pushed and not yet taken. */
  get size(): number {
    return this.#backlog.length - this.#first;
  }

  get backlogBytes(): number {
    return this.#backlogBytes;
  }

  /** Adds an item; dropped when the channel is closed. */
  push(item: Item): void {
    if (!this.#isOpen) return;
    this.#restartHeartbeat();
    if (this.#listener !== undefined) {
      this.#listener.onItem(item);
      return;
    }
    const consumer = this.#consumer;
    if (consumer !== undefined) {
      this.#consumer = undefined;
      consumer.resolve({ done: false, value: item });
      return;
    }
    this.#backlog.push(item);
    this.#backlogBytes += this.#options.weigh(item);
  }

  /**
   * Hands over every item within its push, in place of an iteration: a consumer that puts the items of several
   * channels in one order needs that. To be called before anything is pushed. `onEnd` comes once, also right away.
   */
  listen(onItem: (item: Item) => void, onEnd: (failure: Error | undefined) => void): void {
    if (this.#isOpen) this.#listener = { onItem, onEnd };
    else onEnd(this.#failure);
  }

  /** Ends the stream, with `failure` if there is one. What was not taken is dropped. */
  close(failure?: Error): void {
    if (!this.#isOpen) return;
    this.#isOpen = false;
    this.#failure = failure;
    this.#timer?.[Symbol.dispose]();
    this.#backlog = [];
    this.#first = 0;
    this.#backlogBytes = 0;
    this.#listener?.onEnd(failure);
    this.#listener = undefined;
    const consumer = this.#consumer;
    this.#consumer = undefined;
    if (consumer !== undefined) this.#end().then(consumer.resolve, consumer.reject);
  }

  next(): Promise<IteratorResult<Item, undefined>> {
    const item = this.#backlog[this.#first];
    if (item !== undefined) {
      this.#advance(item);
      this.#options.onTaken?.();
      return Promise.resolve({ done: false, value: item });
    }
    if (!this.#isOpen) return this.#end();
    this.#consumer ??= Promise.withResolvers();
    return this.#consumer.promise;
  }

  /** The consumer leaves. */
  return(): Promise<IteratorResult<Item, undefined>> {
    if (this.#isOpen) {
      this.close();
      this.#options.onLeft();
    }
    return Promise.resolve({ done: true, value: undefined });
  }

  [Symbol.asyncIterator](): this {
    return this;
  }

  #advance(item: Item): void {
    this.#backlogBytes -= this.#options.weigh(item);
    this.#first++;
    if (this.#first < this.#backlog.length && this.#first < 1024) return;
    this.#backlog = this.#backlog.slice(this.#first);
    this.#first = 0;
  }

  #end(): Promise<IteratorResult<Item, undefined>> {
    const failure = this.#failure;
    this.#failure = undefined;
    return failure === undefined
      ? Promise.resolve({ done: true, value: undefined })
      : Promise.reject(failure);
  }

  #restartHeartbeat(): void {
    const { clock, heartbeat, heartbeatIntervalMs } = this.#options;
    if (heartbeatIntervalMs <= 0) return;
    this.#timer?.[Symbol.dispose]();
    this.#timer = clock.setTimer(heartbeatIntervalMs, () => {
      // A reader that is behind learns nothing from one more heartbeat.
      if (this.size === 0) this.push(heartbeat);
      else this.#restartHeartbeat();
    });
  }
}
