import type { Clock } from "@trivium/core";

/** Time and the way to take a notification back. */
export interface OpenNotificationsOptions {
  readonly clock: Clock;
  /** Longest time the end of the program is held back for answers. */
  readonly answerMs: number;
  /** Nobody waits for the answer any more. */
  readonly onRevoked: (notificationId: string) => void;
}

/** The notifications of one cell that its client has yet to answer, and the end that waits for them. */
export class OpenNotifications {
  readonly #options: OpenNotificationsOptions;
  readonly #open = new Set<string>();
  #held: (() => void) | undefined;
  #timer: Disposable | undefined;

  constructor(options: OpenNotificationsOptions) {
    this.#options = options;
  }

  /** True while an end waits. */
  get isHolding(): boolean {
    return this.#held !== undefined;
  }

  add(notificationId: string): void {
    this.#open.add(notificationId);
  }

  /** Answered, or never sent; unknown and repeated ids are fine. The last one lets the end go on. */
  delete(notificationId: string): void {
    if (this.#open.delete(notificationId) && this.#open.size === 0) this.#release();
  }

  /** Runs `end` when every notification is answered, at once if all are, or when their time is over. */
  hold(end: () => void): void {
    this.#held = end;
    if (this.#open.size === 0) this.#release();
    else this.#timer = this.#options.clock.setTimer(this.#options.answerMs, () => this.#release());
  }

  /** Takes back what is open. An end that waits is forgotten. */
  revoke(): void {
    this.#timer?.[Symbol.dispose]();
    this.#held = undefined;
    for (const notificationId of this.#open) {
      this.#open.delete(notificationId);
      this.#options.onRevoked(notificationId);
    }
  }

  #release(): void {
    const held = this.#held;
    this.revoke();
    held?.();
  }
}
