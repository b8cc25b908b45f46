import { chmodSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { type Logger, TriviumError } from "@trivium/core";
import { makeFolderSync, openDatabase } from "@trivium/core/node";
import { storeMigrations } from "./session-store.ts";

/**
 * Opens the index of a data folder and holds the folder for this process until the database is closed. Without
 * a folder the index lives in memory.
 *
 * @throws TriviumError `failedPrecondition` when another process holds the folder; it names that process
 */
export function openDataFolder(folder: string | undefined, logger: Logger): DatabaseSync {
  if (folder === undefined) return openDatabase({ path: ":memory:", migrations: storeMigrations, logger });
  makeFolderSync(folder, 0o700);
  const holder = join(folder, "lock");
  const lock = takeLock(folder, holder);
  try {
    writeFileSync(holder, `${process.pid}\n`, { mode: 0o600 });
    const path = join(folder, "sessions.sqlite");
    const database = openDatabase({ path, migrations: storeMigrations, logger });
    chmodSync(path, 0o600);
    return withLock(database, lock);
  } catch (thrown) {
    lock.close();
    throw thrown;
  }
}

/**
 * The kernel gives the lock of a database file back when its process dies, however it dies; a file with a
 * number in it would stay, and the number may be somebody else's by then.
 */
function takeLock(folder: string, holder: string): DatabaseSync {
  const lock = new DatabaseSync(join(folder, "lock.sqlite"), { timeout: 0 });
  try {
    lock.exec("PRAGMA locking_mode = EXCLUSIVE; BEGIN EXCLUSIVE; COMMIT;");
    return lock;
  } catch (cause) {
    lock.close();
    throw new TriviumError(
      "failedPrecondition",
      `${folder} is in use by process ${readHolder(holder)}; stop it or choose another data folder`,
      { cause },
    );
  }
}

/** The lock goes with the database. */
function withLock(database: DatabaseSync, lock: DatabaseSync): DatabaseSync {
  const close = database.close.bind(database);
  database.close = () => {
    try {
      close();
    } finally {
      lock.close();
    }
  };
  return database;
}

function readHolder(holder: string): string {
  try {
    return readFileSync(holder, "utf8").trim();
  } catch {
    // Between taking the lock and writing its number there is a moment without one.
    return "(unknown)";
  }
}
