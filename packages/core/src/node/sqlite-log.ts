import type { DatabaseSync, StatementSync } from "node:sqlite";
import type { Clock } from "../clock.ts";
import type { EventLog, LogBounds, LogEntry, Retention } from "../event-log.ts";
import { TailSignal, tailOf } from "../log-tail.ts";
import { retainedFrom } from "../retention.ts";
import { TriviumError } from "../trivium-error.ts";
import { inTransaction } from "./transaction.ts";

/** Identity and position of a stored log. */
export interface LogRow {
  readonly logId: number;
  readonly epoch: string;
  readonly lastSeq: number;
}

type PendingEntry = {
  readonly entry: LogEntry;
  readonly resolve: (entry: LogEntry) => void;
  readonly reject: (reason: Error) => void;
};

/** One log of a {@link SqliteEventLogStore}. */
export class SqliteEventLog implements EventLog {
  readonly #database: DatabaseSync;
  readonly #logId: number;
  readonly #epoch: string;
  readonly #clock: Clock;
  readonly #growth = new TailSignal();
  readonly #insert: StatementSync;
  readonly #update: StatementSync;
  readonly #select: StatementSync;
  #pending: PendingEntry[] = [];
  /** Last number given away; entries up to {@link #writtenSeq} are in the file. */
  #lastSeq: number;
  #writtenSeq: number;
  #firstSeq: number;

  constructor(database: DatabaseSync, row: LogRow, clock: Clock) {
    this.#database = database;
    this.#logId = row.logId;
    this.#epoch = row.epoch;
    this.#clock = clock;
    this.#lastSeq = row.lastSeq;
    this.#writtenSeq = row.lastSeq;
    this.#insert = database.prepare(
      "INSERT INTO entry (log_id, seq, at_ms, bytes, data) VALUES (?, ?, ?, ?, ?)",
    );
    this.#update = database.prepare("UPDATE log SET last_seq = ? WHERE log_id = ?");
    this.#select = database.prepare(
      "SELECT seq, at_ms, data FROM entry WHERE log_id = ? AND seq > ? ORDER BY seq LIMIT ?",
    );
    this.#firstSeq = this.#readFirstSeq();
  }

  get isClosed(): boolean {
    return this.#growth.isClosed;
  }

  get bounds(): LogBounds {
    return { epoch: this.#epoch, firstSeq: this.#firstSeq, lastSeq: this.#writtenSeq };
  }

  append(encode: (seq: number) => string): Promise<LogEntry> {
    if (this.#growth.isClosed)
      return Promise.reject(new TriviumError("unavailable", "the event log is closed"));
    const seq = this.#lastSeq + 1;
    const entry = { seq, atMs: this.#clock.now(), data: encode(seq) };
    this.#lastSeq = seq;
    return new Promise((resolve, reject) => {
      this.#pending.push({ entry, resolve, reject });
      // One transaction for everything that is appended until the current tasks are done.
      if (this.#pending.length === 1) queueMicrotask(() => this.#flush());
    });
  }

  readFrom(afterSeq: number, limit: number): Promise<LogEntry[]> {
    const rows = this.#select.all(this.#logId, afterSeq, Math.min(limit, Number.MAX_SAFE_INTEGER));
    return Promise.resolve(
      rows.map((row) => ({ seq: Number(row["seq"]), atMs: Number(row["at_ms"]), data: String(row["data"]) })),
    );
  }

  tail(afterSeq: number, signal: AbortSignal): AsyncIterable<LogEntry> {
    return tailOf(this, this.#growth, { afterSeq, signal });
  }

  prune(retention: Retention): Promise<void> {
    this.#flush();
    const sizes = this.#database
      .prepare("SELECT seq, at_ms, bytes FROM entry WHERE log_id = ? ORDER BY seq")
      .all(this.#logId)
      .map((row) => ({ seq: Number(row["seq"]), atMs: Number(row["at_ms"]), bytes: Number(row["bytes"]) }));
    const kept = new Set(retainedFrom(sizes, retention, this.#clock.now()));
    const remove = this.#database.prepare("DELETE FROM entry WHERE log_id = ? AND seq = ?");
    inTransaction(this.#database, () => {
      for (const { seq } of sizes) if (!kept.has(seq)) remove.run(this.#logId, seq);
    });
    this.#firstSeq = this.#readFirstSeq();
    return Promise.resolve();
  }

  close(): Promise<void> {
    if (this.#growth.isClosed) return Promise.resolve();
    this.#flush();
    try {
      this.#database.prepare("UPDATE log SET is_closed = 1 WHERE log_id = ?").run(this.#logId);
      return Promise.resolve();
    } catch (cause) {
      // Readers end all the same; the log is merely not known to be complete.
      const error = new TriviumError("unavailable", "the event log could not be marked as closed", { cause });
      return Promise.reject(error);
    } finally {
      this.#growth.close();
    }
  }

  #flush(): void {
    const batch = this.#pending;
    if (batch.length === 0) return;
    this.#pending = [];
    try {
      inTransaction(this.#database, () => {
        for (const { entry } of batch) {
          this.#insert.run(this.#logId, entry.seq, entry.atMs, Buffer.byteLength(entry.data), entry.data);
        }
        this.#update.run(batch.at(-1)?.entry.seq ?? this.#writtenSeq, this.#logId);
      });
    } catch (cause) {
      // Nothing of the batch was written: its numbers are free again, and its callers know.
      this.#lastSeq = this.#writtenSeq;
      const error = new TriviumError("unavailable", "the event log cannot be written", { cause });
      for (const { reject } of batch) reject(error);
      return;
    }
    this.#writtenSeq = this.#lastSeq;
    for (const { entry, resolve } of batch) resolve(entry);
    this.#growth.notify();
  }

  #readFirstSeq(): number {
    const first = this.#database
      .prepare("SELECT MIN(seq) AS first FROM entry WHERE log_id = ?")
      .get(this.#logId)?.["first"];
    return first === null || first === undefined ? this.#writtenSeq + 1 : Number(first);
  }
}
