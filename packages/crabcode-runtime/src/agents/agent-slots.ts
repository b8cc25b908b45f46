/** Someone who waits for a slot. */
export interface SlotRequest {
  readonly id: string;
  readonly parentId: string | undefined;
  readonly start: () => void;
}

/**
 * Lets a bounded number of agents run, first come, first served.
 *
 * An agent that waits for others keeps its slot; so that it cannot wait for ever, one child of it may run beside the
 * bound.
 */
export class AgentSlots {
  readonly #limit: number;
  readonly #waiting: SlotRequest[] = [];
  /** Running ones; those beside the bound with the parent whose wait let them. */
  readonly #running = new Map<string, string | undefined>();
  readonly #waitCounts = new Map<string, number>();

  constructor(limit: number) {
    this.#limit = limit;
  }

  request(request: SlotRequest): void {
    this.#waiting.push(request);
    this.#fill();
  }

  /** Takes one out that has not started. False: it does not wait (any more). */
  withdraw(id: string): boolean {
    const index = this.#waiting.findIndex((request) => request.id === id);
    if (index < 0) return false;
    this.#waiting.splice(index, 1);
    return true;
  }

  release(id: string): void {
    this.#running.delete(id);
    this.#fill();
  }

  /** An agent waits for others until this is disposed. */
  waiting(id: string): Disposable {
    this.#waitCounts.set(id, (this.#waitCounts.get(id) ?? 0) + 1);
    this.#fill();
    return {
      [Symbol.dispose]: () => {
        const count = (this.#waitCounts.get(id) ?? 1) - 1;
        if (count === 0) this.#waitCounts.delete(id);
        else this.#waitCounts.set(id, count);
      },
    };
  }

  #fill(): void {
    for (;;) {
      const index = this.#waiting.findIndex((request) => this.#hasSlot(request));
      const [next] = index < 0 ? [] : this.#waiting.splice(index, 1);
      if (next === undefined) return;
      this.#running.set(next.id, this.#isFull ? next.parentId : undefined);
      next.start();
    }
  }

  get #isFull(): boolean {
    const bounded = [...this.#running.values()].filter((parentId) => parentId === undefined);
    return bounded.length >= this.#limit;
  }

  #hasSlot({ parentId }: SlotRequest): boolean {
    if (!this.#isFull) return true;
    if (parentId === undefined || !this.#waitCounts.has(parentId)) return false;
    return ![...this.#running.values()].includes(parentId);
  }
}
