import { abortReason, type Clock, type Logger, sleep, TriviumError } from "@trivium/core";
import type { CallbackLink } from "./callback-dialer.ts";
import { NotificationQueue, type QueuedNotification } from "./notification-queue.ts";
import type { ToolNotification } from "./tool-notification.ts";

const MAX_ATTEMPTS = 3;
/** Before the second attempt; doubles. */
const RETRY_PAUSE_MS = 200;
/** Time that critical notifications have to leave when the session closes. */
const DRAIN_MS = 2_000;

/**
 * The notifications of a session on their way to its host, in order, one call at a time. Nobody waits for it.
 *
 * A lost connection keeps what waits; a notification the host does not take is tried three times and then dropped, which
 * the host sees as a hole in the sequence.
 */
export class NotificationOutbox {
  readonly #clock: Clock;
  readonly #logger: Logger;
  readonly #queue = new NotificationQueue();
  readonly #stop = new AbortController();
  #link: CallbackLink | undefined;
  #state: "waiting" | "open" | "closed" = "waiting";
  #sequence = 0;
  #pumping: Promise<void> | undefined;

  constructor({ clock, logger }: { clock: Clock; logger: Logger }) {
    this.#clock = clock;
    this.#logger = logger;
  }

  /** Nothing will be delivered any more, so nobody needs to make notifications. */
  get isClosed(): boolean {
    return this.#state === "closed";
  }

  /** Adds a notification. Before {@link NotificationOutbox.open} it waits; once there is no host it is dropped. */
  add(notification: ToolNotification): void {
    if (this.#state === "closed") return;
    const lostCount = this.#queue.add(notification);
    if (lostCount > 0) this.#logger.warn({ lostCount }, "notifications were dropped: too many are waiting");
    this.#pump();
  }

  /** Starts to send over a link, or drops everything from now on when there is none. */
  open(link: CallbackLink | undefined): void {
    if (this.#state !== "waiting") return;
    if (link === undefined) {
      this.#end();
      return;
    }
    this.#state = "open";
    this.#link = link;
    this.#pump();
  }

  /** Gives critical notifications two seconds to leave; the rest is dropped. */
  async close(): Promise<void> {
    if (this.#state === "open") {
      this.#queue.dropLossy();
      const timer = this.#clock.setTimer(DRAIN_MS, () => this.#stop.abort(closedError()));
      // The pump may be started anew by a notification that comes while the last one leaves.
      while (this.#pumping !== undefined) await this.#pumping;
      timer[Symbol.dispose]();
    }
    this.#end();
  }

  #end(): void {
    this.#state = "closed";
    this.#stop.abort(closedError());
    this.#queue.clear();
  }

  #pump(): void {
    const link = this.#link;
    if (this.#state !== "open" || link === undefined || this.#queue.size === 0) return;
    this.#pumping ??= this.#sendAll(link).finally(() => {
      this.#pumping = undefined;
      this.#pump();
    });
  }

  async #sendAll(link: CallbackLink): Promise<void> {
    const { signal } = this.#stop;
    try {
      while (this.#queue.size > 0) {
        await link.ready(signal);
        const next = this.#queue.take();
        if (next !== undefined) await this.#send(link, next);
      }
    } catch (cause) {
      // The session has ended, or this server will never call that address: nothing can be delivered any more.
      if (!signal.aborted) this.#logger.warn({ cause }, "notifications cannot be delivered");
      this.#end();
    }
  }

  async #send(link: CallbackLink, { type, json }: QueuedNotification): Promise<void> {
    const { signal } = this.#stop;
    this.#sequence += 1;
    const notification = { sequence: this.#sequence, notificationJson: json };
    for (let attempt = 1; ; attempt++) {
      try {
        await link.notify(notification, signal);
        return;
      } catch (cause) {
        if (signal.aborted) throw abortReason(signal);
        if (attempt === MAX_ATTEMPTS) {
          this.#logger.warn({ type, sequence: this.#sequence, cause }, "a notification was not taken");
          return;
        }
      }
      await sleep(this.#clock, RETRY_PAUSE_MS * 2 ** (attempt - 1), signal);
      await link.ready(signal);
    }
  }
}

function closedError(): TriviumError {
  return new TriviumError("cancelled", "the session is closed");
}
