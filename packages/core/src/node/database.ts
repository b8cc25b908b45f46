import { renameSync, rmSync } from "node:fs";
import { DatabaseSync } from "node:sqlite";
import type { Logger } from "../logger.ts";
import { TriviumError } from "../trivium-error.ts";

/** SQL that brings a schema from one version to the next. */
export type Migration = string;

/** How to open a database. */
export interface OpenDatabaseOptions {
  /** File, or `:memory:`. Its folder exists. */
  readonly path: string;
  /** The i-th one leads from version i to i + 1. Never changed once released; only added to. */
  readonly migrations: readonly Migration[];
  readonly logger: Logger;
}

/**
 * Opens a database of the data folder in WAL mode and brings its schema up to date.
 *
 * A damaged file is set aside as `<path>.corrupt-<time>` with a warning in the log, and a fresh one is made.
 *
 * @throws {@link TriviumError} `failedPrecondition` when the schema is newer than this program.
 */
export function openDatabase(options: OpenDatabaseOptions): DatabaseSync {
  const { path, logger } = options;
  try {
    return openChecked(options);
  } catch (cause) {
    if (!isCorruption(cause)) throw cause;
    const aside = `${path}.corrupt-${Date.now()}`;
    for (const suffix of ["", "-wal"]) {
      try {
        renameSync(path + suffix, aside + suffix);
      } catch (missing) {
        if (suffix === "") throw missing;
        // A database that was closed cleanly has no WAL file.
      }
    }
    rmSync(`${path}-shm`, { force: true });
    logger.error(
      { path, aside, cause },
      "the database is damaged and was set aside; starting with an empty one",
    );
    return openChecked(options);
  }
}

function openChecked({ path, migrations }: OpenDatabaseOptions): DatabaseSync {
  const database = new DatabaseSync(path, { timeout: 5_000 });
  try {
    database.exec("PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL; PRAGMA foreign_keys = ON;");
    const check = database.prepare("PRAGMA quick_check(1)").get()?.["quick_check"];
    if (check !== "ok") throw new DamagedDatabaseError(`quick_check says ${String(check)}`);
    migrate(database, migrations, path);
    return database;
  } catch (thrown) {
    database.close();
    throw thrown;
  }
}

function migrate(database: DatabaseSync, migrations: readonly Migration[], path: string): void {
  const version = Number(database.prepare("PRAGMA user_version").get()?.["user_version"]);
  if (version > migrations.length) {
    throw new TriviumError(
      "failedPrecondition",
      `${path} has schema version ${version}, this program knows up to ${migrations.length}; use a newer program or another data folder`,
    );
  }
  for (const [index, migration] of migrations.entries()) {
    if (index < version) continue;
    database.exec(`BEGIN IMMEDIATE; ${migration}; PRAGMA user_version = ${index + 1}; COMMIT;`);
  }
}

class DamagedDatabaseError extends Error {
  override readonly name: string = "DamagedDatabaseError";
}

/** SQLITE_CORRUPT and SQLITE_NOTADB, https://www.sqlite.org/rescode.html (primary result codes). */
const corruptionCodes: ReadonlySet<unknown> = new Set([11, 26]);

function isCorruption(thrown: unknown): boolean {
  if (thrown instanceof DamagedDatabaseError) return true;
  return thrown instanceof Error && "errcode" in thrown && corruptionCodes.has(Number(thrown.errcode) & 0xff);
}
