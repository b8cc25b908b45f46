import { type EventLog, type EventLogStore, MemoryEventLogStore } from "@trivium/core";

/** Logs in memory that fail when a test says so. */
export class FaultyEventLogs implements EventLogStore {
  readonly #store = new MemoryEventLogStore();
  /** An event whose JSON has this in it cannot be written; "" for every event. */
  unwritable: string | undefined;
  isReadable = true;

  async open(name: string): Promise<EventLog> {
    const log = await this.#store.open(name);
    const isUnwritable = (data: string): boolean =>
      this.unwritable !== undefined && data.includes(this.unwritable);
    return {
      get bounds() {
        return log.bounds;
      },
      append: (encode) =>
        isUnwritable(encode(0)) ? Promise.reject(new Error("disk full")) : log.append(encode),
      readFrom: (after, limit) =>
        this.isReadable ? log.readFrom(after, limit) : Promise.reject(new Error("bad row")),
      tail: (after, signal) => log.tail(after, signal),
      prune: (retention) => log.prune(retention),
      close: () => log.close(),
    };
  }

  head(name: string): ReturnType<EventLogStore["head"]> {
    return this.#store.head(name);
  }

  delete(name: string): Promise<void> {
    return this.#store.delete(name);
  }

  close(): Promise<void> {
    return this.#store.close();
  }
}
