import type { DatabaseSync } from "node:sqlite";
import { z } from "zod";
import { KEY_RETENTION_MS } from "./operation-store.ts";

/** A call that made a session and had an idempotency key. */
export interface CreateRequest {
  readonly sessionId: string;
  readonly requestHash: string;
  /** JSON of the answer; undefined when the process ended before there was one. */
  readonly response: string | undefined;
}

const requestRow = z
  .object({ session_id: z.string(), request_hash: z.string(), response: z.string().nullable() })
  .transform(
    (row): CreateRequest => ({
      sessionId: row.session_id,
      requestHash: row.request_hash,
      response: row.response ?? undefined,
    }),
  );

/** Keys of calls that made sessions, kept for a day. Every call is durable when it returns. */
export class CreateRequests {
  readonly #database: DatabaseSync;

  constructor(database: DatabaseSync) {
    this.#database = database;
  }

  find(idempotencyKey: string, nowMs: number): CreateRequest | undefined {
    const row = this.#database
      .prepare("SELECT * FROM create_requests WHERE idempotency_key = ? AND at_ms >= ?")
      .get(idempotencyKey, nowMs - KEY_RETENTION_MS);
    return row === undefined ? undefined : requestRow.parse(row);
  }

  /** Part of the caller's transaction. */
  add(idempotencyKey: string, request: Omit<CreateRequest, "response"> & { nowMs: number }): void {
    this.#database
      .prepare("DELETE FROM create_requests WHERE at_ms < ?")
      .run(request.nowMs - KEY_RETENTION_MS);
    this.#database
      .prepare("INSERT OR REPLACE INTO create_requests VALUES (?, ?, ?, NULL, ?)")
      .run(idempotencyKey, request.sessionId, request.requestHash, request.nowMs);
  }

  answered(idempotencyKey: string, response: string): void {
    this.#database
      .prepare("UPDATE create_requests SET response = ? WHERE idempotency_key = ?")
      .run(response, idempotencyKey);
  }
}
