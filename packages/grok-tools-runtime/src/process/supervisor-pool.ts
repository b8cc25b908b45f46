import type { Clock, Logger } from "@trivium/core";
import type { Helper } from "./helper.ts";

export interface SupervisorPoolOptions {
  /** Supervisors kept ready. */
  readonly warmCount: number;
  start(): Promise<Helper>;
  readonly clock: Clock;
  readonly logger: Logger;
}

/** Spares beyond the wanted number stay so long: the next burst of commands finds them. */
const IDLE_MS = 30_000;

type Waiter = { resolve(helper: Helper): void; reject(error: unknown): void };

/** Supervisors that wait for a command, and those that have one. */
export class SupervisorPool {
  readonly #options: SupervisorPoolOptions;
  /** With the timer that lets a spare go. */
  readonly #idle = new Map<Helper, Disposable>();
  /** Takers without a supervisor, in order. Each has one being started; one that is given back may come first. */
  readonly #waiters: Waiter[] = [];
  #startingCount = 0;
  #takenCount = 0;
  #isClosed = false;

  constructor(options: SupervisorPoolOptions) {
    this.#options = options;
    this.#refill();
  }

  /** All supervisors, also those that are being started. */
  get size(): number {
    return this.#idle.size + this.#startingCount + this.#takenCount;
  }

  /** A supervisor for one command. The caller gives it back. */
  take(): Promise<Helper> {
    const { promise, resolve, reject } = Promise.withResolvers<Helper>();
    this.#waiters.push({ resolve, reject });
    // The one that was used last: those that a burst has left then stay idle until their time is over.
    const ready = [...this.#idle.keys()].at(-1);
    if (ready !== undefined) {
      this.#forgetIdle(ready);
      this.#offer(ready);
    }
    this.#refill();
    return promise;
  }

  /** The command is gone. A supervisor that is not reusable ends. */
  giveBack(helper: Helper, isReusable: boolean): void {
    this.#takenCount -= 1;
    if (isReusable) this.#offer(helper);
    else helper.close();
    this.#refill();
  }

  /** The supervisor is gone with its command. */
  forget(): void {
    this.#takenCount -= 1;
    this.#refill();
  }

  close(): void {
    this.#isClosed = true;
    for (const helper of this.#idle.keys()) this.#letGo(helper);
  }

  /** To the first taker, else to the spares, else it ends. */
  #offer(helper: Helper): void {
    if (helper.isLost) return;
    const waiter = this.#waiters.shift();
    if (waiter !== undefined) {
      this.#takenCount += 1;
      waiter.resolve(helper);
      return;
    }
    if (this.#isClosed) {
      helper.close();
      return;
    }
    this.#idle.set(
      helper,
      this.#options.clock.setTimer(IDLE_MS, () => this.#retire(helper)),
    );
    // Not replaced at once: a supervisor that dies without work would be started again and again.
    helper.listen(
      () => {},
      () => this.#forgetIdle(helper),
    );
  }

  #retire(helper: Helper): void {
    if (this.#idle.size > this.#options.warmCount) this.#letGo(helper);
  }

  #letGo(helper: Helper): void {
    this.#forgetIdle(helper);
    helper.close();
  }

  #forgetIdle(helper: Helper): void {
    this.#idle.get(helper)?.[Symbol.dispose]();
    this.#idle.delete(helper);
  }

  #refill(): void {
    if (this.#isClosed) return;
    const wanted = this.#waiters.length + this.#options.warmCount;
    while (this.#idle.size + this.#startingCount < wanted) this.#start();
  }

  #start(): void {
    this.#startingCount += 1;
    this.#options.start().then(
      (helper) => {
        this.#startingCount -= 1;
        this.#offer(helper);
      },
      (error: unknown) => {
        this.#startingCount -= 1;
        const waiter = this.#waiters.shift();
        if (waiter !== undefined) waiter.reject(error);
        else if (!this.#isClosed) this.#options.logger.warn({ error }, "cannot start a spare supervisor");
      },
    );
  }
}
