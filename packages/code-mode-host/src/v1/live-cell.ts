/** A cell as its client knows it: what is still to be said about it before it may be called closed. */
export class LiveCell {
  /** When it was admitted, on the monotonic clock. */
  readonly openedMs: number;
  readonly #onClosed: () => void;
  #pendingAnswers = 0;
  #isClosed = false;
  #termination: Promise<void> | undefined;

  /** @param onClosed everything has been said; called once */
  constructor(openedMs: number, onClosed: () => void) {
    this.openedMs = openedMs;
    this.#onClosed = onClosed;
  }

  /** Settles when a termination in progress has its answer; observers get theirs after it. */
  get termination(): Promise<void> | undefined {
    return this.#termination;
  }

  /** The runtime has closed the cell. */
  close(): void {
    this.#isClosed = true;
    this.#sayClosed();
  }

  /** An answer about the cell is to come; disposing the result says that it was sent. */
  expectAnswer(): Disposable {
    this.#pendingAnswers++;
    return {
      [Symbol.dispose]: () => {
        this.#pendingAnswers--;
        this.#sayClosed();
      },
    };
  }

  /** As {@link LiveCell.expectAnswer}, of a termination. */
  expectTermination(): Disposable {
    const answer = this.expectAnswer();
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#termination = promise;
    return {
      [Symbol.dispose]: () => {
        resolve();
        answer[Symbol.dispose]();
      },
    };
  }

  #sayClosed(): void {
    if (this.#isClosed && this.#pendingAnswers === 0) this.#onClosed();
  }
}
