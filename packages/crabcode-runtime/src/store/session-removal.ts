import { rm } from "node:fs/promises";
import { join } from "node:path";
import type { DatabaseSync } from "node:sqlite";
import type { EventLogStore, Logger } from "@trivium/core";
import { inTransaction } from "@trivium/core/node";
import { eventLogName } from "./event-log-name.ts";
import type { MessageSearch } from "./message-search.ts";

/** Every table with rows of a session says so by its column `session_id`. */
const TABLES = `SELECT tables.name AS name FROM sqlite_schema AS tables, pragma_table_info(tables.name) AS columns
  WHERE tables.type = 'table' AND columns.name = 'session_id' AND tables.name <> 'removals'`;

/** Removes what else is kept of a session. Called again until it does not fail. */
export type OnSessionRemoved = (session: {
  readonly sessionId: string;
  readonly cwd: string;
}) => void | Promise<void>;

/** Whether the rows of a session are removed and its files are not, or perhaps not. */
export function isBeingRemoved(database: DatabaseSync, sessionId: string): boolean {
  return database.prepare("SELECT 1 FROM removals WHERE session_id = ?").get(sessionId) !== undefined;
}

/** What removing a session takes. */
export interface SessionRemovalDeps {
  readonly database: DatabaseSync;
  readonly search: MessageSearch;
  readonly eventLogs: EventLogStore;
  /** Undefined: nothing is kept on disk. */
  readonly transcripts: string | undefined;
  readonly onRemoved: readonly OnSessionRemoved[];
  readonly logger: Logger;
}

/**
 * Removes sessions. The rows go in one transaction, and with them the session is gone; files and events follow, after a
 * crash at the next start.
 */
export class SessionRemoval {
  readonly #deps: SessionRemovalDeps;
  /** What is being removed, by its session. */
  readonly #running = new Map<string, Promise<void>>();

  constructor(deps: SessionRemovalDeps) {
    this.#deps = deps;
  }

  /** The session is not loaded. What cannot be removed with its rows is logged and tried again at the next start. */
  async remove({ sessionId, cwd }: { sessionId: string; cwd: string }): Promise<void> {
    const { database, search } = this.#deps;
    inTransaction(database, () => {
      search.remove(sessionId);
      const tables = database.prepare(TABLES).all();
      for (const statement of [
        "DELETE FROM started_calls WHERE operation_id IN (SELECT id FROM operations WHERE session_id = ?1)",
        "DELETE FROM started_calls WHERE operation_id IN (SELECT operation_id FROM agents WHERE session_id = ?1)",
        "DELETE FROM agent_deliveries WHERE agent_id IN (SELECT id FROM agents WHERE session_id = ?1)",
        ...tables.map(({ name }) => `DELETE FROM ${String(name)} WHERE session_id = ?1`),
        "DELETE FROM sessions WHERE id = ?1",
      ]) {
        database.prepare(statement).run(sessionId);
      }
      database.prepare("INSERT OR REPLACE INTO removals VALUES (?, ?)").run(sessionId, cwd);
    });
    await this.finish(sessionId).catch((cause: unknown) => {
      this.#deps.logger.error({ sessionId, cause }, "files of a deleted session could not be removed");
    });
  }

  /** Whether there are files of a removed session that would become those of a new one. */
  isPending(sessionId: string): boolean {
    return isBeingRemoved(this.#deps.database, sessionId);
  }

  /** Removes what an earlier removal left, so that a new session of that id begins empty. */
  async finish(sessionId: string): Promise<void> {
    const running = this.#running.get(sessionId) ?? this.#finish(sessionId);
    this.#running.set(sessionId, running);
    try {
      await running;
    } finally {
      this.#running.delete(sessionId);
    }
  }

  async #finish(sessionId: string): Promise<void> {
    const { database, transcripts, eventLogs, onRemoved } = this.#deps;
    const row = database.prepare("SELECT cwd FROM removals WHERE session_id = ?").get(sessionId);
    if (row === undefined) return;
    await eventLogs.delete(eventLogName(sessionId));
    if (transcripts !== undefined) {
      await rm(join(transcripts, `${sessionId}.jsonl`), { force: true });
      await rm(join(transcripts, `${sessionId}.agents`), { recursive: true, force: true });
    }
    for (const callback of onRemoved) await callback({ sessionId, cwd: String(row["cwd"]) });
    database.prepare("DELETE FROM removals WHERE session_id = ?").run(sessionId);
  }

  /** Every removal that an earlier process did not finish. */
  async finishAll(): Promise<void> {
    const { database, logger } = this.#deps;
    for (const row of database.prepare("SELECT session_id AS id FROM removals").all()) {
      const sessionId = String(row["id"]);
      await this.finish(sessionId).catch((cause: unknown) => {
        logger.error({ sessionId, cause }, "files of a deleted session could not be removed");
      });
    }
  }
}
