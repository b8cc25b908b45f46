import type { DatabaseSync, StatementSync } from "node:sqlite";
import type { Clock } from "../clock.ts";
import type { EventLog, LogBounds, LogEntry, Retention } from "../event-log.ts";
import { TailSignal, tailOf } from "../log-tail.ts";
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

/** The newest entries, as far as the limits of the last pruning let them stay; what is pinned may lie before them. */
interface Kept {
  fromSeq: number;
  count: number;
  bytes: number;
}

/** Entries that pruning looks at in one go. */
const PRUNE_PAGE = 64;

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
  /** Counted by the first pruning, then kept up to date: a long log is not read again and again. */
  #kept: Kept | undefined;

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
    const pinned = new Set(retention.keepSeqs);
    const kept = this.#cut(this.#kept ?? this.#countAll(), retention);
    // Until it is done; what fails is counted again.
    this.#kept = undefined;
    const before = this.#database
      .prepare("SELECT seq FROM entry WHERE log_id = ? AND seq < ?")
      .all(this.#logId, kept.fromSeq);
    const remove = this.#database.prepare("DELETE FROM entry WHERE log_id = ? AND seq = ?");
    inTransaction(this.#database, () => {
      for (const { seq } of before) if (!pinned.has(Number(seq))) remove.run(this.#logId, Number(seq));
    });
    this.#kept = kept;
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

  #countAll(): Kept {
    const all = this.#database
      .prepare("SELECT MIN(seq) AS first, COUNT(*) AS count, SUM(bytes) AS bytes FROM entry WHERE log_id = ?")
      .get(this.#logId);
    const first = all?.["first"] ?? this.#writtenSeq + 1;
    return { fromSeq: Number(first), count: Number(all?.["count"] ?? 0), bytes: Number(all?.["bytes"] ?? 0) };
  }

  /** Leaves the oldest entries out until every limit holds. */
  #cut({ fromSeq, count, bytes }: Kept, retention: Retention): Kept {
    const { maxEvents = Infinity, maxBytes = Infinity, maxAgeMs = Infinity } = retention;
    const oldestMs = this.#clock.now() - maxAgeMs;
    const page = this.#database.prepare(
      "SELECT seq, at_ms, bytes FROM entry WHERE log_id = ? AND seq >= ? ORDER BY seq LIMIT ?",
    );
    for (;;) {
      const rows = page.all(this.#logId, fromSeq, PRUNE_PAGE);
      for (const row of rows) {
        const fits = count <= maxEvents && bytes <= maxBytes && Number(row["at_ms"]) >= oldestMs;
        if (fits) return { fromSeq, count, bytes };
        fromSeq = Number(row["seq"]) + 1;
        count -= 1;
        bytes -= Number(row["bytes"]);
      }
      if (rows.length < PRUNE_PAGE) return { fromSeq, count, bytes };
    }
  }

  #flush(): void {
    const batch = this.#pending;
    if (batch.length === 0) return;
    this.#pending = [];
    let batchBytes = 0;
    try {
      inTransaction(this.#database, () => {
        for (const { entry } of batch) {
          const bytes = Buffer.byteLength(entry.data);
          batchBytes += bytes;
          this.#insert.run(this.#logId, entry.seq, entry.atMs, bytes, entry.data);
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
    if (this.#kept !== undefined) {
      this.#kept.count += batch.length;
      this.#kept.bytes += batchBytes;
    }
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
