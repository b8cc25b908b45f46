import type { DatabaseSync } from "node:sqlite";
import type { TurnCompleteEvent } from "@trivium/proto/crabcode-events";
import { z } from "zod";

/** A message that was admitted, as long as it is not over or its key is remembered. */
export interface OperationRecord {
  readonly operationId: string;
  /** `callback`: nobody's message but a notification; its `text` is the uuid. */
  readonly kind: "message" | "callback";
  /**
   * `queued`: waits for its turn. `running`: its user message may be in the history. `ending`: all but its
   * `turn_complete` is written. `ended`: kept for its key only.
   */
  readonly state: "queued" | "running" | "ending" | "ended";
  readonly text: string;
  readonly maxTurns: number;
  readonly isInteractive: boolean;
  readonly idempotencyKey: string | undefined;
  readonly requestHash: string | undefined;
  /** Numbering of `afterSeq` and `completeSeq`. */
  readonly epoch: string | undefined;
  /** Last event before the first of this turn. */
  readonly afterSeq: number | undefined;
  readonly turnCount: number;
  readonly usage: { readonly input_tokens: number; readonly output_tokens: number };
  /** JSON of the `turn_complete` without its envelope. */
  readonly completeEvent: string | undefined;
  readonly completeSeq: number | undefined;
}

/** Keys are kept this long after their operation ended. */
export const KEY_RETENTION_MS: number = 24 * 3_600_000;

const usage = z.object({ input_tokens: z.number(), output_tokens: z.number() });

const operationRow = z
  .object({
    id: z.string(),
    kind: z.enum(["message", "callback"]),
    state: z.enum(["queued", "running", "ending", "ended"]),
    text: z.string(),
    max_turns: z.number(),
    is_interactive: z.number(),
    idempotency_key: z.string().nullable(),
    request_hash: z.string().nullable(),
    epoch: z.string().nullable(),
    after_seq: z.number().nullable(),
    turn_count: z.number(),
    usage: z.string(),
    complete_event: z.string().nullable(),
    complete_seq: z.number().nullable(),
  })
  .transform(
    (row): OperationRecord => ({
      operationId: row.id,
      kind: row.kind,
      state: row.state,
      text: row.text,
      maxTurns: row.max_turns,
      isInteractive: row.is_interactive !== 0,
      idempotencyKey: row.idempotency_key ?? undefined,
      requestHash: row.request_hash ?? undefined,
      epoch: row.epoch ?? undefined,
      afterSeq: row.after_seq ?? undefined,
      turnCount: row.turn_count,
      usage: usage.parse(JSON.parse(row.usage)),
      completeEvent: row.complete_event ?? undefined,
      completeSeq: row.complete_seq ?? undefined,
    }),
  );

/** A turn whose programs go on after its end, and where its events begin. */
export interface LeftCells {
  readonly operationId: string;
  readonly epoch: string;
  readonly afterSeq: number;
}

const leftCellsRow = z
  .object({ operation_id: z.string(), epoch: z.string(), after_seq: z.number() })
  .transform(
    (row): LeftCells => ({ operationId: row.operation_id, epoch: row.epoch, afterSeq: row.after_seq }),
  );

/** The turns of one session, as they go on. Every call is durable when it returns. */
export class OperationStore {
  readonly #database: DatabaseSync;
  readonly #sessionId: string;

  constructor(database: DatabaseSync, sessionId: string) {
    this.#database = database;
    this.#sessionId = sessionId;
  }

  admit(
    operation: Pick<
      OperationRecord,
      "operationId" | "kind" | "text" | "maxTurns" | "isInteractive" | "idempotencyKey" | "requestHash"
    >,
    nowMs: number,
  ): void {
    this.#database
      .prepare(
        `INSERT INTO operations (id, session_id, kind, state, text, max_turns, is_interactive, idempotency_key,
           request_hash, turn_count, usage, created_at_ms)
         VALUES (?, ?, ?, 'queued', ?, ?, ?, ?, ?, 0, '{"input_tokens":0,"output_tokens":0}', ?)`,
      )
      .run(
        operation.operationId,
        this.#sessionId,
        operation.kind,
        operation.text,
        operation.maxTurns,
        operation.isInteractive ? 1 : 0,
        operation.idempotencyKey ?? null,
        operation.requestHash ?? null,
        nowMs,
      );
  }

  /** The message left the queue without having begun. */
  forget(operationId: string): void {
    this.#database.prepare("DELETE FROM operations WHERE id = ?").run(operationId);
  }

  start(operationId: string, position: { epoch: string; afterSeq: number }): void {
    this.#database
      .prepare("UPDATE operations SET state = 'running', epoch = ?, after_seq = ? WHERE id = ?")
      .run(position.epoch, position.afterSeq, operationId);
  }

  progress(operationId: string, turnCount: number, tokens: OperationRecord["usage"]): void {
    const { input_tokens, output_tokens } = tokens;
    this.#database
      .prepare("UPDATE operations SET turn_count = ?, usage = ? WHERE id = ?")
      .run(turnCount, JSON.stringify({ input_tokens, output_tokens }), operationId);
  }

  callStarted(operationId: string, toolUseId: string): void {
    this.#database.prepare("INSERT OR IGNORE INTO started_calls VALUES (?, ?)").run(operationId, toolUseId);
  }

  /** The run of an agent is over. */
  forgetCalls(operationId: string): void {
    this.#database.prepare("DELETE FROM started_calls WHERE operation_id = ?").run(operationId);
  }

  startedCalls(operationId: string): Set<string> {
    const rows = this.#database
      .prepare("SELECT tool_use_id AS id FROM started_calls WHERE operation_id = ?")
      .all(operationId);
    return new Set(rows.map((row) => String(row["id"])));
  }

  ending(operationId: string, event: TurnCompleteEvent): void {
    this.#database
      .prepare("UPDATE operations SET state = 'ending', complete_event = ? WHERE id = ?")
      .run(JSON.stringify(event), operationId);
  }

  /** The turn is over. Without a key nothing is remembered of it. */
  end(operationId: string, at: { completeSeq: number; nowMs: number }): void {
    this.#database.prepare("DELETE FROM started_calls WHERE operation_id = ?").run(operationId);
    this.#database
      .prepare("UPDATE operations SET state = 'ended', complete_seq = ?, ended_at_ms = ? WHERE id = ?")
      .run(at.completeSeq, at.nowMs, operationId);
    this.#database
      .prepare(
        `DELETE FROM operations WHERE session_id = ? AND state = 'ended'
           AND (idempotency_key IS NULL OR ended_at_ms < ?)`,
      )
      .run(this.#sessionId, at.nowMs - KEY_RETENTION_MS);
  }

  /** The message with this key, unless it is too old. */
  findByKey(idempotencyKey: string, nowMs: number): OperationRecord | undefined {
    const row = this.#database
      .prepare(
        `SELECT * FROM operations WHERE session_id = ? AND kind = 'message' AND idempotency_key = ?
           AND (ended_at_ms IS NULL OR ended_at_ms >= ?)`,
      )
      .get(this.#sessionId, idempotencyKey, nowMs - KEY_RETENTION_MS);
    if (row === undefined) {
      // An older one would stand in the way of the new.
      this.#database
        .prepare("DELETE FROM operations WHERE session_id = ? AND kind = 'message' AND idempotency_key = ?")
        .run(this.#sessionId, idempotencyKey);
      return undefined;
    }
    return operationRow.parse(row);
  }

  /** What a process that ended had not finished, in order of admission. */
  unfinished(): OperationRecord[] {
    return this.#database
      .prepare("SELECT * FROM operations WHERE session_id = ? AND state <> 'ended' ORDER BY rowid")
      .all(this.#sessionId)
      .map((row) => operationRow.parse(row));
  }

  /** Programs of a turn that has ended go on. */
  addLeftCells({ operationId, epoch, afterSeq }: LeftCells): void {
    this.#database
      .prepare(
        "INSERT OR REPLACE INTO left_cells (session_id, operation_id, epoch, after_seq) VALUES (?, ?, ?, ?)",
      )
      .run(this.#sessionId, operationId, epoch, afterSeq);
  }

  /** They have ended. */
  removeLeftCells(operationId: string): void {
    this.#database
      .prepare("DELETE FROM left_cells WHERE session_id = ? AND operation_id = ?")
      .run(this.#sessionId, operationId);
  }

  /** Turns whose programs went on when the process ended, or had just ended. */
  leftCells(): LeftCells[] {
    return this.#database
      .prepare("SELECT operation_id, epoch, after_seq FROM left_cells WHERE session_id = ? ORDER BY rowid")
      .all(this.#sessionId)
      .map((row) => leftCellsRow.parse(row));
  }

  /** Events that retention leaves alone: the ends of turns whose keys are remembered. */
  completeSeqs(epoch: string): number[] {
    return this.#database
      .prepare(
        "SELECT complete_seq AS seq FROM operations WHERE session_id = ? AND state = 'ended' AND epoch = ?",
      )
      .all(this.#sessionId, epoch)
      .map((row) => Number(row["seq"]));
  }
}
