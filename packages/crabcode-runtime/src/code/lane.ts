/** Room for so many at a time; the others wait in the order in which they came. */
export class Lane {
  readonly #capacity: number;
  readonly #waiting: (() => void)[] = [];
  #taken = 0;

  constructor(capacity: number) {
    this.#capacity = capacity;
  }

  /** A place, given back by disposing it; undefined when the signal aborts first. */
  async enter(signal: AbortSignal): Promise<Disposable | undefined> {
    if (signal.aborted) return undefined;
    if (this.#taken < this.#capacity) this.#taken += 1;
    else if (!(await this.#turn(signal))) return undefined;
    return this.#place();
  }

  #place(): Disposable {
    let isTaken = true;
    return {
      [Symbol.dispose]: () => {
        if (!isTaken) return;
        isTaken = false;
        const next = this.#waiting.shift();
        // The place goes over to the next one without being free in between.
        if (next === undefined) this.#taken -= 1;
        else next();
      },
    };
  }

  /** True when a place was handed over. */
  #turn(signal: AbortSignal): Promise<boolean> {
    return new Promise((resolve) => {
      const onTurn = (): void => {
        signal.removeEventListener("abort", onAbort);
        resolve(true);
      };
      const onAbort = (): void => {
        this.#waiting.splice(this.#waiting.indexOf(onTurn), 1);
        resolve(false);
      };
      this.#waiting.push(onTurn);
      signal.addEventListener("abort", onAbort, { once: true });
    });
  }
}
