import type { EventReader, Payload, Status } from "./calls.ts";
import { type Captures, mismatchOf } from "./matcher.ts";
import type { EventWait } from "./vector.ts";

/** What has come on a stream so far, for those who wait for more. */
export class RecordedStream {
  readonly events: Payload[] = [];
  readonly #abort = new AbortController();
  readonly #headers = Promise.withResolvers<void>();
  readonly #ended: Promise<Status>;
  #status: Status | undefined;
  #waiters: (() => void)[] = [];

  /** @param read opens the stream and reads it to its end */
  constructor(read: (reader: EventReader) => Promise<Status>) {
    this.#ended = read({
      signal: this.#abort.signal,
      onHeaders: this.#headers.resolve,
      onEvent: (payload) => {
        this.events.push(payload);
        this.#wake();
      },
    }).then((status) => {
      this.#status = status;
      this.#headers.resolve();
      this.#wake();
      return status;
    });
  }

  /** The status it ended with; undefined while it runs. */
  get status(): Status | undefined {
    return this.#status;
  }

  /** Resets the call. */
  cancel(): void {
    this.#abort.abort();
  }

  /** Waits for the response headers, or the end without them. */
  headers(): Promise<void> {
    return this.#headers.promise;
  }

  /** Waits for the end. */
  end(): Promise<Status> {
    return this.#ended;
  }

  /**
   * Waits for the nth event that fits, of those that are there first. Captures are stored.
   *
   * @throws when the stream ends before
   */
  async find({ type, match, nth = 1 }: EventWait, captures: Captures): Promise<void> {
    let at = 0;
    let count = 0;
    for (;;) {
      for (; at < this.events.length; at += 1) {
        const event = this.events[at];
        if (event === undefined || (type !== undefined && event.type !== type)) continue;
        // Only the event that is meant leaves its captures.
        const mine = count + 1 === nth ? captures : new Map(captures);
        if (match === undefined || mismatchOf(match, event, mine) === undefined) count += 1;
        if (count === nth) return;
      }
      if (this.#status !== undefined) {
        throw new Error(`the stream ended with ${this.#status.code} before the event that is waited for`);
      }
      await this.changed();
    }
  }

  /** Waits for one more event, or the end. */
  changed(): Promise<void> {
    return new Promise((resolve) => {
      this.#waiters.push(resolve);
    });
  }

  #wake(): void {
    for (const wake of this.#waiters.splice(0)) wake();
  }
}
