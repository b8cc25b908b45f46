import type { DatabaseSync } from "node:sqlite";
import { z } from "zod";
import { KEY_RETENTION_MS } from "./operation-store.ts";

/** Where the result of an agent is on its way to the one who delegated. */
export type CallbackState = "disabled" | "pending" | "injected" | "delivered";

/** Tokens an agent used in all its runs; empty until something was counted. */
export interface AgentUsage {
  readonly input_tokens?: number;
  readonly output_tokens?: number;
}

/** Everything that is kept of an agent beside its transcript. */
export interface AgentRecord {
  readonly agentId: string;
  /** 1-based within its session, in order of spawning. */
  readonly ordinal: number;
  readonly parentId: string | undefined;
  readonly parentToolUseId: string | undefined;
  readonly title: string;
  readonly type: string;
  readonly depth: number;
  readonly model: string;
  readonly modelProfile: string;
  readonly isInteractive: boolean;
  readonly createdAtMs: number;
  readonly hasCallback: boolean;
  readonly idempotencyKey: string | undefined;
  readonly requestHash: string | undefined;
  status: "queued" | "running" | "completed" | "failed" | "stopped";
  finishedAtMs: number | undefined;
  usage: AgentUsage;
  finalResult: string;
  error: string;
  callbackState: CallbackState;
  callbackMessageId: string | undefined;
  callbackEpoch: number;
  /** Of the newest run. */
  operationId: string;
  /** Numbering of `runAfterSeq`. */
  runEpoch: string | undefined;
  /** Last event before the newest run. */
  runAfterSeq: number | undefined;
}

const usage = z.object({ input_tokens: z.number().optional(), output_tokens: z.number().optional() });

const agentRow = z
  .object({
    id: z.string(),
    ordinal: z.number(),
    parent_id: z.string().nullable(),
    parent_tool_use_id: z.string().nullable(),
    title: z.string(),
    type: z.string(),
    depth: z.number(),
    status: z.enum(["queued", "running", "completed", "failed", "stopped"]),
    model: z.string(),
    model_profile: z.string(),
    is_interactive: z.number(),
    created_at_ms: z.number(),
    finished_at_ms: z.number().nullable(),
    usage: z.string(),
    final_result: z.string(),
    error: z.string(),
    has_callback: z.number(),
    callback_state: z.enum(["disabled", "pending", "injected", "delivered"]),
    callback_message_id: z.string().nullable(),
    callback_epoch: z.number(),
    operation_id: z.string(),
    run_epoch: z.string().nullable(),
    run_after_seq: z.number().nullable(),
    idempotency_key: z.string().nullable(),
    request_hash: z.string().nullable(),
  })
  .transform((row): AgentRecord => {
    const { input_tokens, output_tokens } = usage.parse(JSON.parse(row.usage));
    return {
      agentId: row.id,
      ordinal: row.ordinal,
      parentId: row.parent_id ?? undefined,
      parentToolUseId: row.parent_tool_use_id ?? undefined,
      title: row.title,
      type: row.type,
      depth: row.depth,
      status: row.status,
      model: row.model,
      modelProfile: row.model_profile,
      isInteractive: row.is_interactive !== 0,
      createdAtMs: row.created_at_ms,
      finishedAtMs: row.finished_at_ms ?? undefined,
      usage: {
        ...(input_tokens !== undefined && { input_tokens }),
        ...(output_tokens !== undefined && { output_tokens }),
      },
      finalResult: row.final_result,
      error: row.error,
      hasCallback: row.has_callback !== 0,
      callbackState: row.callback_state,
      callbackMessageId: row.callback_message_id ?? undefined,
      callbackEpoch: row.callback_epoch,
      operationId: row.operation_id,
      runEpoch: row.run_epoch ?? undefined,
      runAfterSeq: row.run_after_seq ?? undefined,
      idempotencyKey: row.idempotency_key ?? undefined,
      requestHash: row.request_hash ?? undefined,
    };
  });

const inputRow = z.object({ request_hash: z.string(), callback_epoch: z.number() });

/** The agents of one session. Every call is durable when it returns. */
export class AgentStore {
  readonly #database: DatabaseSync;
  readonly #sessionId: string;

  constructor(database: DatabaseSync, sessionId: string) {
    this.#database = database;
    this.#sessionId = sessionId;
  }

  /** The session that owns an agent; undefined when there is none. */
  static ownerOf(database: DatabaseSync, agentId: string): string | undefined {
    const row = database.prepare("SELECT session_id FROM agents WHERE id = ?").get(agentId);
    return row === undefined ? undefined : String(row["session_id"]);
  }

  /** In order of spawning. */
  all(): AgentRecord[] {
    return this.#database
      .prepare("SELECT * FROM agents WHERE session_id = ? ORDER BY ordinal")
      .all(this.#sessionId)
      .map((row) => agentRow.parse(row));
  }

  insert(agent: AgentRecord): void {
    const { idempotencyKey } = agent;
    if (idempotencyKey !== undefined) {
      // An older agent whose key is forgotten would stand in the way.
      this.#database
        .prepare("UPDATE agents SET idempotency_key = NULL WHERE session_id = ? AND idempotency_key = ?")
        .run(this.#sessionId, idempotencyKey);
    }
    this.#database
      .prepare(
        `INSERT INTO agents (id, session_id, ordinal, parent_id, parent_tool_use_id, title, type, depth,
           status, model, model_profile, is_interactive, created_at_ms, usage, final_result, error,
           has_callback, callback_state, callback_epoch, operation_id, idempotency_key, request_hash)
         VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, '{}', '', '', ?, ?, ?, ?, ?, ?)`,
      )
      .run(
        agent.agentId,
        this.#sessionId,
        agent.ordinal,
        agent.parentId ?? null,
        agent.parentToolUseId ?? null,
        agent.title,
        agent.type,
        agent.depth,
        agent.status,
        agent.model,
        agent.modelProfile,
        agent.isInteractive ? 1 : 0,
        agent.createdAtMs,
        agent.hasCallback ? 1 : 0,
        agent.callbackState,
        agent.callbackEpoch,
        agent.operationId,
        idempotencyKey ?? null,
        agent.requestHash ?? null,
      );
  }

  /** Writes what changes over the life of an agent. */
  update(agent: AgentRecord): void {
    this.#database
      .prepare(
        `UPDATE agents SET status = ?, finished_at_ms = ?, usage = ?, final_result = ?, error = ?,
           callback_state = ?, callback_message_id = ?, callback_epoch = ?, operation_id = ?, run_epoch = ?,
           run_after_seq = ? WHERE id = ?`,
      )
      .run(
        agent.status,
        agent.finishedAtMs ?? null,
        JSON.stringify(agent.usage),
        agent.finalResult,
        agent.error,
        agent.callbackState,
        agent.callbackMessageId ?? null,
        agent.callbackEpoch,
        agent.operationId,
        agent.runEpoch ?? null,
        agent.runAfterSeq ?? null,
        agent.agentId,
      );
  }

  remove(agentId: string): void {
    this.#database.prepare("DELETE FROM agents WHERE id = ?").run(agentId);
    this.#database.prepare("DELETE FROM agent_deliveries WHERE agent_id = ?").run(agentId);
  }

  /** The result of an epoch was answered: it is never handed over again. */
  delivered(
    agent: Pick<AgentRecord, "agentId" | "callbackEpoch">,
    ids: { messageId: string; assistantId: string },
  ): void {
    this.#database
      .prepare("INSERT OR IGNORE INTO agent_deliveries VALUES (?, ?, ?, ?)")
      .run(agent.agentId, agent.callbackEpoch, ids.messageId, ids.assistantId);
  }

  wasDelivered({ agentId, callbackEpoch }: Pick<AgentRecord, "agentId" | "callbackEpoch">): boolean {
    return (
      this.#database
        .prepare("SELECT 1 FROM agent_deliveries WHERE agent_id = ? AND callback_epoch = ?")
        .get(agentId, callbackEpoch) !== undefined
    );
  }

  /** A run belongs to the turn that led to it, for the streams of that turn. */
  addRun(operationId: string, rootOperationId: string): void {
    // Turns that nobody can ask for again need no runs.
    this.#database
      .prepare(
        `DELETE FROM agent_runs WHERE session_id = ?
           AND root_operation_id NOT IN (SELECT id FROM operations WHERE session_id = ?)`,
      )
      .run(this.#sessionId, this.#sessionId);
    this.#database
      .prepare("INSERT OR REPLACE INTO agent_runs VALUES (?, ?, ?)")
      .run(operationId, this.#sessionId, rootOperationId);
  }

  /** Turns by the operation of each run they led to. */
  runs(): Map<string, string> {
    const rows = this.#database
      .prepare("SELECT operation_id, root_operation_id FROM agent_runs WHERE session_id = ?")
      .all(this.#sessionId);
    return new Map(rows.map((row) => [String(row["operation_id"]), String(row["root_operation_id"])]));
  }

  /** Answers of inputs with a key; undefined when it is unknown or too old. */
  findInput(
    idempotencyKey: string,
    nowMs: number,
  ): { readonly requestHash: string; readonly callbackEpoch: number } | undefined {
    const row = this.#database
      .prepare(
        `SELECT request_hash, callback_epoch FROM agent_inputs
           WHERE session_id = ? AND idempotency_key = ? AND at_ms >= ?`,
      )
      .get(this.#sessionId, idempotencyKey, nowMs - KEY_RETENTION_MS);
    if (row === undefined) return undefined;
    const { request_hash, callback_epoch } = inputRow.parse(row);
    return { requestHash: request_hash, callbackEpoch: callback_epoch };
  }

  addInput(
    idempotencyKey: string,
    input: { requestHash: string; callbackEpoch: number; nowMs: number },
  ): void {
    const { requestHash, callbackEpoch, nowMs } = input;
    this.#database
      .prepare("DELETE FROM agent_inputs WHERE session_id = ? AND at_ms < ?")
      .run(this.#sessionId, nowMs - KEY_RETENTION_MS);
    this.#database
      .prepare("INSERT OR REPLACE INTO agent_inputs VALUES (?, ?, ?, ?, ?)")
      .run(this.#sessionId, idempotencyKey, requestHash, callbackEpoch, nowMs);
  }
}
