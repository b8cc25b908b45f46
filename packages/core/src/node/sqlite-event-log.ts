import type { DatabaseSync } from "node:sqlite";
import { type Clock, systemClock } from "../clock.ts";
import type { EventLog, EventLogStore, LogBounds } from "../event-log.ts";
import { type IdSource, randomIds } from "../ids.ts";
import { type Logger, silentLogger } from "../logger.ts";
import { readBootId } from "./boot-id.ts";
import { type Migration, openDatabase } from "./database.ts";
import { type LogRow, SqliteEventLog } from "./sqlite-log.ts";
import { inTransaction } from "./transaction.ts";

/** What {@link SqliteEventLogStore} needs. */
export interface SqliteEventLogStoreOptions {
  /** Database file, or `:memory:`. Its folder exists. One process writes it. */
  readonly path: string;
  readonly clock?: Clock;
  readonly ids?: IdSource;
  readonly logger?: Logger;
  /** Names this run of the machine. Tests pass their own. */
  readonly bootId?: string | undefined;
}

const migrations: readonly Migration[] = [
  `CREATE TABLE log (
     log_id INTEGER PRIMARY KEY,
     name TEXT NOT NULL UNIQUE,
     epoch TEXT NOT NULL,
     last_seq INTEGER NOT NULL,
     boot_id TEXT,
     is_closed INTEGER NOT NULL
   ) STRICT;
   CREATE TABLE entry (
     log_id INTEGER NOT NULL REFERENCES log ON DELETE CASCADE,
     seq INTEGER NOT NULL,
     at_ms INTEGER NOT NULL,
     bytes INTEGER NOT NULL,
     data TEXT NOT NULL,
     PRIMARY KEY (log_id, seq)
   ) STRICT, WITHOUT ROWID`,
];

/**
 * Event logs in one SQLite file.
 *
 * The numbering of a log goes on after a restart when the log was closed, or when the machine has not been
 * restarted since it was written: everything that was delivered is then in the file. Otherwise it gets a new epoch.
 */
export class SqliteEventLogStore implements EventLogStore {
  readonly #database: DatabaseSync;
  readonly #clock: Clock;
  readonly #ids: IdSource;
  readonly #bootId: string | undefined;
  readonly #open = new Map<string, SqliteEventLog>();

  constructor(options: SqliteEventLogStoreOptions) {
    const { path, logger = silentLogger, clock = systemClock, ids = randomIds } = options;
    this.#database = openDatabase({ path, migrations, logger });
    this.#clock = clock;
    this.#ids = ids;
    this.#bootId = "bootId" in options ? options.bootId : readBootId();
  }

  open(name: string): Promise<EventLog> {
    let log = this.#open.get(name);
    // A log that was closed goes on where it stopped.
    if (log === undefined || log.isClosed) {
      log = new SqliteEventLog(this.#database, this.#claim(name), this.#clock);
      this.#open.set(name, log);
    }
    return Promise.resolve(log);
  }

  head(name: string): Promise<Pick<LogBounds, "epoch" | "lastSeq"> | undefined> {
    const row = this.#database.prepare("SELECT epoch, last_seq FROM log WHERE name = ?").get(name);
    return Promise.resolve(
      row === undefined ? undefined : { epoch: String(row["epoch"]), lastSeq: Number(row["last_seq"]) },
    );
  }

  async delete(name: string): Promise<void> {
    await this.#open.get(name)?.close();
    this.#open.delete(name);
    this.#database.prepare("DELETE FROM log WHERE name = ?").run(name);
  }

  async close(): Promise<void> {
    // One that cannot be closed does not keep the others open.
    const closed = await Promise.allSettled([...this.#open.values()].map((log) => log.close()));
    this.#open.clear();
    this.#database.close();
    const failures = closed.flatMap((result) => (result.status === "rejected" ? [result.reason] : []));
    if (failures.length > 0) throw new AggregateError(failures, "event logs could not be closed");
  }

  /** The row of a log, made or continued, and marked as in use. */
  #claim(name: string): LogRow {
    const row = this.#database.prepare("SELECT * FROM log WHERE name = ?").get(name);
    if (row === undefined) {
      const epoch = this.#newEpoch();
      const { lastInsertRowid } = this.#database
        .prepare("INSERT INTO log (name, epoch, last_seq, boot_id, is_closed) VALUES (?, ?, 0, ?, 0)")
        .run(name, epoch, this.#bootId ?? null);
      return { logId: Number(lastInsertRowid), epoch, lastSeq: 0 };
    }
    const logId = Number(row["log_id"]);
    const isComplete =
      row["is_closed"] === 1 || (this.#bootId !== undefined && row["boot_id"] === this.#bootId);
    if (!isComplete) {
      const epoch = this.#newEpoch();
      inTransaction(this.#database, () => {
        this.#database.prepare("DELETE FROM entry WHERE log_id = ?").run(logId);
        this.#mark(logId, { epoch, lastSeq: 0 });
      });
      return { logId, epoch, lastSeq: 0 };
    }
    const claimed = { logId, epoch: String(row["epoch"]), lastSeq: Number(row["last_seq"]) };
    this.#mark(logId, claimed);
    return claimed;
  }

  #mark(logId: number, { epoch, lastSeq }: Omit<LogRow, "logId">): void {
    this.#database
      .prepare("UPDATE log SET epoch = ?, last_seq = ?, boot_id = ?, is_closed = 0 WHERE log_id = ?")
      .run(epoch, lastSeq, this.#bootId ?? null, logId);
  }

  #newEpoch(): string {
    return this.#ids.hex(8);
  }
}
