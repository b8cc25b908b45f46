import type { Logger } from "@trivium/core";
import type { Helper } from "./helper.ts";

export interface SupervisorPoolOptions {
  /** Supervisors kept ready. */
  readonly warmCount: number;
  start(): Promise<Helper>;
  readonly logger: Logger;
}

/** Supervisors that wait for a command, and those that have one. */
export class SupervisorPool {
  readonly #options: SupervisorPoolOptions;
  readonly #idle = new Set<Helper>();
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
  async take(): Promise<Helper> {
    const [ready] = this.#idle;
    if (ready === undefined) {
      const started = await this.#start();
      this.#takenCount += 1;
      return started;
    }
    this.#idle.delete(ready);
    this.#takenCount += 1;
    this.#refill();
    return ready;
  }

  /** The command is gone. A supervisor that is not reusable ends. */
  giveBack(helper: Helper, isReusable: boolean): void {
    this.#takenCount -= 1;
    if (!isReusable || this.#isClosed || this.#idle.size > this.#options.warmCount) helper.close();
    else this.#keep(helper);
    this.#refill();
  }

  /** The supervisor is gone with its command. */
  forget(): void {
    this.#takenCount -= 1;
    this.#refill();
  }

  close(): void {
    this.#isClosed = true;
    for (const helper of this.#idle) helper.close();
    this.#idle.clear();
  }

  #keep(helper: Helper): void {
    if (helper.isLost) return;
    this.#idle.add(helper);
    // Not replaced at once: a supervisor that dies without work would be started again and again.
    helper.listen(
      () => {},
      () => this.#idle.delete(helper),
    );
  }

  #refill(): void {
    if (this.#isClosed || this.#idle.size + this.#startingCount >= this.#options.warmCount) return;
    this.#start().then(
      (helper) => {
        if (this.#isClosed) helper.close();
        else this.#keep(helper);
      },
      (error: unknown) => {
        if (!this.#isClosed) this.#options.logger.warn({ error }, "cannot start a spare supervisor");
      },
    );
  }

  async #start(): Promise<Helper> {
    this.#startingCount += 1;
    try {
      return await this.#options.start();
    } finally {
      this.#startingCount -= 1;
    }
  }
}
