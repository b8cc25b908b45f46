import { type EventLog, type EventLogStore, MemoryEventLogStore } from "@trivium/core";
import type { ManualClock } from "@trivium/core/testing";

/** Logs in memory that remember everything that was ever written to them, pruned or not. */
export class RecordingEventLogs implements EventLogStore {
  /** By name of the log, then by `seq` - 1. */
  readonly written: Map<string, string[]> = new Map();
  readonly #store: MemoryEventLogStore;

  constructor(clock: ManualClock) {
    this.#store = new MemoryEventLogStore({ clock });
  }

  async open(name: string): Promise<EventLog> {
    const log = await this.#store.open(name);
    const written = this.written.get(name) ?? [];
    this.written.set(name, written);
    return {
      get bounds() {
        return log.bounds;
      },
      append: (encode) =>
        log.append((seq) => {
          const data = encode(seq);
          written[seq - 1] = data;
          return data;
        }),
      readFrom: (after, limit) => log.readFrom(after, limit),
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
