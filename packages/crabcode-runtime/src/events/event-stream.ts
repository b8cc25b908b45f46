import { abortReason, type Clock } from "@trivium/core";
import type { StreamEvent } from "../crabcode-runtime.ts";
import type { SessionFeed } from "./session-feed.ts";

/** Silence after which a stream says that it lives. */
export const HEARTBEAT_MS = 10_000;

/** How a stream came to its end: its reader has seen or been told the end, went away, or could not be served. */
export type StreamEnd = "ended" | "left" | "failed";

/** What a stream is made of. */
export interface EventStreamOptions {
  readonly clock: Clock;
  /** Ends the stream at once, without an error. */
  readonly signal?: AbortSignal | undefined;
  /** Makes the event of a silent stream. */
  readonly heartbeat: () => StreamEvent;
  /** An event of this type is the last one. */
  readonly lastType?: string;
  /** Called once, when the stream is over. */
  readonly onClose: (how: StreamEnd) => void;
}

/**
 * What one client reads: events put in front, then the events of its feeds, heartbeats in between.
 *
 * It has one reader. Nothing is prepared for a reader that does not ask, so a stalled one costs no more than
 * the queues of its feeds.
 */
export class EventStream implements AsyncIterableIterator<StreamEvent, undefined> {
  readonly #options: EventStreamOptions;
  readonly #feeds = new Set<SessionFeed>();
  readonly #front: StreamEvent[] = [];
  /** Set while the reader waits; true says that it waited for a heartbeat. */
  #resume: ((isBeat: boolean) => void) | undefined;
  /** Woken since the reader last looked, while it did not wait. */
  #wasWoken = false;
  #timer: Disposable | undefined;
  #lastEventMs: number;
  #state: "open" | "draining" | "closed" = "open";
  #failure: Error | undefined;

  /** @throws the reason of a signal that is aborted already: nobody would read */
  constructor(options: EventStreamOptions) {
    const { signal, clock } = options;
    if (signal?.aborted === true) throw abortReason(signal);
    this.#options = options;
    this.#lastEventMs = clock.monotonic();
    signal?.addEventListener("abort", this.#onAbort, { once: true });
  }

  /** Adds events that come before anything of the feeds. */
  put(...events: StreamEvent[]): void {
    this.#front.push(...events);
    this.wake();
  }

  /** The stream owns the feed from here on. */
  add(feed: SessionFeed): void {
    if (this.#state === "closed") feed[Symbol.dispose]();
    else this.#feeds.add(feed);
    this.wake();
  }

  /** There may be something to take. */
  wake(): void {
    if (this.#resume === undefined) this.#wasWoken = true;
    else this.#resume(false);
  }

  /** No more events than those that are there; then the end, or `failure`. */
  finish(failure?: Error): void {
    if (this.#state !== "open") return;
    this.#state = "draining";
    this.#failure = failure;
    this.wake();
  }

  /** Ends the stream now; what was not taken is dropped. */
  cut(failure?: Error): void {
    if (this.#state === "closed") return;
    this.#failure = failure ?? this.#failure;
    this.#close("ended");
  }

  async next(): Promise<IteratorResult<StreamEvent, undefined>> {
    for (;;) {
      if (this.#state === "closed") return this.#end();
      this.#wasWoken = false;
      const event = this.#front.shift() ?? this.#take();
      if (event !== undefined) {
        this.#lastEventMs = this.#options.clock.monotonic();
        if (event.type === this.#options.lastType) this.#close("ended");
        return { done: false, value: event };
      }
      if (await this.#hasReadLog()) continue;
      // What came in that moment is taken before the stream waits or ends.
      if (this.#wasWoken) continue;
      if (this.#state === "draining") this.#close("ended");
      else if (await this.#wait()) return { done: false, value: this.#options.heartbeat() };
    }
  }

  return(): Promise<IteratorResult<StreamEvent, undefined>> {
    this.#failure = undefined;
    this.#close("left");
    return Promise.resolve({ done: true, value: undefined });
  }

  [Symbol.asyncIterator](): this {
    return this;
  }

  readonly #onAbort = (): void => {
    this.#failure = undefined;
    this.#close("left");
  };

  #take(): StreamEvent | undefined {
    for (const feed of this.#feeds) {
      const event = feed.take();
      if (event === undefined) {
        if (feed.isFinished) this.#remove(feed);
        continue;
      }
      // The next turn is another session's.
      if (this.#feeds.size > 1) {
        this.#feeds.delete(feed);
        this.#feeds.add(feed);
      }
      return event;
    }
    return undefined;
  }

  async #hasReadLog(): Promise<boolean> {
    const feed = [...this.#feeds].find(({ mustRead }) => mustRead);
    if (feed === undefined) return false;
    try {
      await feed.read();
    } catch (thrown) {
      // A reader that left meanwhile needs no reason.
      if (this.#state === "closed") return true;
      this.#close("failed");
      throw thrown;
    }
    return true;
  }

  /** Waits for a wake-up; true when it was the heartbeat's. */
  async #wait(): Promise<boolean> {
    const isBeat = await new Promise<boolean>((resolve) => {
      this.#resume = (value) => {
        this.#resume = undefined;
        resolve(value);
      };
      this.#armHeartbeat();
    });
    if (!isBeat || this.#state !== "open") return false;
    this.#lastEventMs = this.#options.clock.monotonic();
    return true;
  }

  /** One timer serves many events: when it fires it looks how long the silence really is. */
  #armHeartbeat(): void {
    if (this.#timer !== undefined) return;
    const { clock } = this.#options;
    this.#timer = clock.setTimer(this.#lastEventMs + HEARTBEAT_MS - clock.monotonic(), () => {
      this.#timer = undefined;
      // Nothing is prepared for a reader that does not ask.
      if (this.#resume === undefined) return;
      if (clock.monotonic() - this.#lastEventMs >= HEARTBEAT_MS) this.#resume(true);
      else this.#armHeartbeat();
    });
  }

  #remove(feed: SessionFeed): void {
    feed[Symbol.dispose]();
    this.#feeds.delete(feed);
  }

  #close(how: StreamEnd): void {
    if (this.#state === "closed") return;
    this.#state = "closed";
    this.#options.signal?.removeEventListener("abort", this.#onAbort);
    for (const feed of this.#feeds) this.#remove(feed);
    this.#front.length = 0;
    this.#timer?.[Symbol.dispose]();
    this.#timer = undefined;
    this.#options.onClose(how);
    this.wake();
  }

  #end(): IteratorResult<StreamEvent, undefined> {
    const failure = this.#failure;
    this.#failure = undefined;
    if (failure !== undefined) throw failure;
    return { done: true, value: undefined };
  }
}
