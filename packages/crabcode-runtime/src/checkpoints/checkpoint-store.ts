import type { DatabaseSync } from "node:sqlite";
import { z } from "zod";
import { KEY_RETENTION_MS } from "../store/operation-store.ts";
import type { Checkpoint } from "./checkpoint.ts";

/** A checkpoint at its place in the list. */
export interface StoredCheckpoint extends Checkpoint {
  /** Grows with each checkpoint of the server. */
  readonly ordinal: number;
}

/** Checkpoints of a session whose snapshots are too old. */
export interface ExpiredSnapshots {
  readonly sessionId: string;
  readonly cwd: string;
  readonly checkpointIds: readonly string[];
}

/** A call that was answered. */
export interface AnsweredCall {
  readonly requestHash: string;
  /** JSON. */
  readonly response: string;
}

const checkpointRow = z
  .object({
    ordinal: z.number(),
    id: z.string(),
    label: z.string(),
    created_at_ms: z.number(),
    message_id: z.string(),
    message_index: z.number(),
    snapshot_id: z.string().nullable(),
    file_count: z.number(),
    is_automatic: z.number(),
  })
  .transform(
    (row): StoredCheckpoint => ({
      ordinal: row.ordinal,
      checkpointId: row.id,
      label: row.label,
      createdAtMs: row.created_at_ms,
      messageId: row.message_id,
      messageIndex: row.message_index,
      snapshotId: row.snapshot_id ?? undefined,
      fileCount: row.file_count,
      isAutomatic: row.is_automatic !== 0,
    }),
  );
const expiredRow = z.object({ session_id: z.string(), cwd: z.string(), id: z.string() });
const callRow = z
  .object({ request_hash: z.string(), response: z.string() })
  .transform((row): AnsweredCall => ({ requestHash: row.request_hash, response: row.response }));

/** The checkpoints of all sessions and the answers that are remembered. Every call is durable when it returns. */
export class CheckpointStore {
  readonly #database: DatabaseSync;

  constructor(database: DatabaseSync) {
    this.#database = database;
  }

  insert(owner: { readonly sessionId: string; readonly cwd: string }, checkpoint: Checkpoint): void {
    this.#database
      .prepare(
        `INSERT INTO checkpoints (id, session_id, cwd, label, created_at_ms, message_id, message_index, snapshot_id,
           file_count, is_automatic) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
      )
      .run(
        checkpoint.checkpointId,
        owner.sessionId,
        owner.cwd,
        checkpoint.label,
        checkpoint.createdAtMs,
        checkpoint.messageId,
        checkpoint.messageIndex,
        checkpoint.snapshotId ?? null,
        checkpoint.fileCount,
        checkpoint.isAutomatic ? 1 : 0,
      );
  }

  /** @param checkpointId `latest`: the newest of the session */
  find(sessionId: string, checkpointId: string): Checkpoint | undefined {
    if (checkpointId === "latest") return this.newestFirst(sessionId, { limit: 1 })[0];
    const row = this.#database
      .prepare("SELECT * FROM checkpoints WHERE session_id = ? AND id = ?")
      .get(sessionId, checkpointId);
    return row === undefined ? undefined : checkpointRow.parse(row);
  }

  newestFirst(
    sessionId: string,
    { before = Number.MAX_SAFE_INTEGER, limit }: { readonly before?: number; readonly limit: number },
  ): StoredCheckpoint[] {
    return this.#database
      .prepare("SELECT * FROM checkpoints WHERE session_id = ? AND ordinal < ? ORDER BY ordinal DESC LIMIT ?")
      .all(sessionId, before, limit)
      .map((row) => checkpointRow.parse(row));
  }

  /**
   * Takes the snapshots of checkpoints made before a time; the checkpoints stay.
   *
   * @param inUse ids of checkpoints that keep theirs for now
   */
  expireBefore(timeMs: number, inUse: ReadonlySet<string>): ExpiredSnapshots[] {
    const rows = this.#database
      .prepare(
        `UPDATE checkpoints SET snapshot_id = NULL, file_count = 0
           WHERE snapshot_id IS NOT NULL AND created_at_ms < ? AND id NOT IN (SELECT value FROM json_each(?))
           RETURNING session_id, cwd, id`,
      )
      .all(timeMs, JSON.stringify([...inUse]))
      .map((row) => expiredRow.parse(row));
    const bySession = Map.groupBy(rows, ({ session_id }) => session_id);
    return [...bySession].map(([sessionId, some]) => ({
      sessionId,
      cwd: some[0]?.cwd ?? "",
      checkpointIds: some.map(({ id }) => id),
    }));
  }

  findCall(
    sessionId: string,
    call: { method: string; key: string; nowMs: number },
  ): AnsweredCall | undefined {
    const row = this.#database
      .prepare(
        `SELECT request_hash, response FROM checkpoint_calls
           WHERE session_id = ? AND method = ? AND idempotency_key = ? AND at_ms >= ?`,
      )
      .get(sessionId, call.method, call.key, call.nowMs - KEY_RETENTION_MS);
    return row === undefined ? undefined : callRow.parse(row);
  }

  addCall(sessionId: string, call: { method: string; key: string; nowMs: number } & AnsweredCall): void {
    this.#database
      .prepare("DELETE FROM checkpoint_calls WHERE session_id = ? AND at_ms < ?")
      .run(sessionId, call.nowMs - KEY_RETENTION_MS);
    this.#database
      .prepare("INSERT OR REPLACE INTO checkpoint_calls VALUES (?, ?, ?, ?, ?, ?)")
      .run(sessionId, call.method, call.key, call.requestHash, call.response, call.nowMs);
  }
}
