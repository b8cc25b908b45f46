import type { CrabcodeClientEvent } from "./client-event.ts";
import { type TurnResult, TurnSummary } from "./turn-summary.ts";

/**
 * One message and the turn it started. Iterate it for the events, or ask only for the result.
 *
 * It has one stream: either iterate it once, or call {@link Turn.result}, or iterate and then ask for the result.
 * Leaving the loop early cancels the call, which interrupts the turn (unless it is detached).
 */
export class Turn implements AsyncIterable<CrabcodeClientEvent> {
  readonly #summary = new TurnSummary();
  readonly #events: AsyncGenerator<CrabcodeClientEvent, void, undefined>;
  readonly #first: Promise<IteratorResult<CrabcodeClientEvent, void>>;
  readonly #done = Promise.withResolvers<TurnResult>();
  #isTaken = false;

  /** @internal Turns come from `CrabcodeClient.send`. */
  constructor(events: AsyncGenerator<CrabcodeClientEvent, void, undefined>) {
    this.#events = events;
    // Asked for at once, so that the message leaves even if nobody reads yet.
    this.#first = events.next();
    this.#first.catch(() => {});
    this.#done.promise.catch(() => {});
  }

  /**
   * What the turn came to, once it has ended. Reads the stream if nobody does.
   *
   * @throws TriviumError when the call was refused or lost, or the reason of its signal.
   */
  result(): Promise<TurnResult> {
    if (!this.#isTaken) {
      // Its failure reaches the caller through the promise below.
      this.#drain().catch(() => {});
    }
    return this.#done.promise;
  }

  async #drain(): Promise<void> {
    for await (const _ of this);
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<CrabcodeClientEvent, void, undefined> {
    if (this.#isTaken) throw new TypeError("a turn can be read once");
    this.#isTaken = true;
    try {
      for (let next = await this.#first; next.done !== true; next = await this.#events.next()) {
        this.#summary.add(next.value);
        yield next.value;
      }
    } catch (error) {
      this.#done.reject(error);
      throw error;
    } finally {
      await this.#events.return();
      this.#done.resolve(this.#summary.result);
    }
  }
}
