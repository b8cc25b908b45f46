import type { DatabaseSync } from "node:sqlite";

/** Runs `work` in one transaction: all of it is written, or nothing. What it throws is thrown on. */
export function inTransaction(database: DatabaseSync, work: () => void): void {
  database.exec("BEGIN IMMEDIATE");
  try {
    work();
    database.exec("COMMIT");
  } catch (thrown) {
    // Some errors end the transaction by themselves.
    if (database.isTransaction) database.exec("ROLLBACK");
    throw thrown;
  }
}
