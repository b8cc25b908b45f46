import type { EventLog, LogEntry } from "./event-log.ts";

/** Entries a tail reads from its log at a time. */
const PAGE = 256;

/** Wakes the tails of one log when it has grown or closed. */
export class TailSignal {
  #waiters: (() => void)[] = [];
  #isClosed = false;

  /** True after {@link TailSignal.close}. */
  get isClosed(): boolean {
    return this.#isClosed;
  }

  /** The log has new entries. */
  notify(): void {
    for (const wake of this.#waiters.splice(0)) wake();
  }

  /** The log takes no more entries. */
  close(): void {
    this.#isClosed = true;
    this.notify();
  }

  /** Resolves at the next notification, or at once when closed or aborted. */
  wait(signal: AbortSignal): Promise<void> {
    if (this.#isClosed || signal.aborted) return Promise.resolve();
    return new Promise((resolve) => {
      const wake = (): void => {
        signal.removeEventListener("abort", wake);
        const index = this.#waiters.indexOf(wake);
        if (index >= 0) this.#waiters.splice(index, 1);
        resolve();
      };
      signal.addEventListener("abort", wake, { once: true });
      this.#waiters.push(wake);
    });
  }
}

/** The one implementation of {@link EventLog.tail}: read pages, then wait for more. */
export async function* tailOf(
  log: Pick<EventLog, "readFrom" | "bounds">,
  growth: TailSignal,
  { afterSeq, signal }: { afterSeq: number; signal: AbortSignal },
): AsyncGenerator<LogEntry, void, undefined> {
  let position = afterSeq;
  while (!signal.aborted) {
    const page = await log.readFrom(position, PAGE);
    for (const entry of page) {
      if (signal.aborted) return;
      position = entry.seq;
      yield entry;
    }
    if (page.length > 0) continue;
    if (growth.isClosed) return;
    // Written between the read and here: do not wait for the next one.
    if (log.bounds.lastSeq > position) continue;
    await growth.wait(signal);
  }
}
