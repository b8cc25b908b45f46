import { type Clock, systemClock } from "./clock.ts";
import type { EventLog, EventLogStore, LogBounds, LogEntry, Retention } from "./event-log.ts";
import { type IdSource, randomIds } from "./ids.ts";
import { TailSignal, tailOf } from "./log-tail.ts";
import { retainedFrom } from "./retention.ts";
import { TriviumError } from "./trivium-error.ts";

/** What a log takes its times and epochs from. */
export interface EventLogDeps {
  readonly clock?: Clock;
  readonly ids?: IdSource;
}

/** Event logs that live as long as the process. */
export class MemoryEventLogStore implements EventLogStore {
  readonly #logs = new Map<string, MemoryEventLog>();
  readonly #deps: EventLogDeps;

  constructor(deps: EventLogDeps = {}) {
    this.#deps = deps;
  }

  open(name: string): Promise<EventLog> {
    let log = this.#logs.get(name);
    if (log === undefined) {
      log = new MemoryEventLog(this.#deps);
      this.#logs.set(name, log);
    }
    log.reopen();
    return Promise.resolve(log);
  }

  head(name: string): Promise<Pick<LogBounds, "epoch" | "lastSeq"> | undefined> {
    return Promise.resolve(this.#logs.get(name)?.bounds);
  }

  async delete(name: string): Promise<void> {
    await this.#logs.get(name)?.close();
    this.#logs.delete(name);
  }

  async close(): Promise<void> {
    for (const log of this.#logs.values()) await log.close();
  }
}

class MemoryEventLog implements EventLog {
  readonly #entries: LogEntry[] = [];
  #growth = new TailSignal();
  readonly #epoch: string;
  readonly #clock: Clock;
  #lastSeq = 0;

  constructor({ clock = systemClock, ids = randomIds }: EventLogDeps) {
    this.#clock = clock;
    this.#epoch = ids.hex(8);
  }

  /** A log that was closed goes on where it stopped. */
  reopen(): void {
    if (this.#growth.isClosed) this.#growth = new TailSignal();
  }

  get bounds(): LogBounds {
    return {
      epoch: this.#epoch,
      firstSeq: this.#entries[0]?.seq ?? this.#lastSeq + 1,
      lastSeq: this.#lastSeq,
    };
  }

  append(encode: (seq: number) => string): Promise<LogEntry> {
    if (this.#growth.isClosed)
      return Promise.reject(new TriviumError("unavailable", "the event log is closed"));
    const seq = this.#lastSeq + 1;
    const entry = { seq, atMs: this.#clock.now(), data: encode(seq) };
    this.#lastSeq = seq;
    this.#entries.push(entry);
    this.#growth.notify();
    return Promise.resolve(entry);
  }

  readFrom(afterSeq: number, limit: number): Promise<LogEntry[]> {
    // Pruning may leave holes, so the position is searched, not computed.
    let low = 0;
    let high = this.#entries.length;
    while (low < high) {
      const middle = (low + high) >>> 1;
      if ((this.#entries[middle]?.seq ?? 0) <= afterSeq) low = middle + 1;
      else high = middle;
    }
    return Promise.resolve(this.#entries.slice(low, low + limit));
  }

  tail(afterSeq: number, signal: AbortSignal): AsyncIterable<LogEntry> {
    return tailOf(this, this.#growth, { afterSeq, signal });
  }

  prune(retention: Retention): Promise<void> {
    const kept = retainedFrom(
      this.#entries.map((entry) => ({ ...entry, bytes: new TextEncoder().encode(entry.data).byteLength })),
      retention,
      this.#clock.now(),
    );
    const stays = new Set(kept);
    const remaining = this.#entries.filter((entry) => stays.has(entry.seq));
    this.#entries.splice(0, this.#entries.length, ...remaining);
    return Promise.resolve();
  }

  close(): Promise<void> {
    this.#growth.close();
    return Promise.resolve();
  }
}
