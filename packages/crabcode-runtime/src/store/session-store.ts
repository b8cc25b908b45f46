import type { DatabaseSync } from "node:sqlite";
import { z } from "zod";

/** What is known of a stored session without reading its transcript. */
export interface SessionRecord {
  readonly sessionId: string;
  /** Absolute. */
  readonly cwd: string;
  readonly title: string;
  /** Active profile; undefined until one was chosen by a client. */
  readonly modelProfile: string | undefined;
  readonly createdAtMs: number;
}

/** SQL of the schema, one step per version. */
export const storeMigrations: readonly string[] = [
  `CREATE TABLE facts (name TEXT PRIMARY KEY, value TEXT NOT NULL) STRICT;
   CREATE TABLE sessions (
     id TEXT PRIMARY KEY, cwd TEXT NOT NULL, title TEXT NOT NULL, model_profile TEXT,
     first_user_message TEXT NOT NULL, message_count INTEGER NOT NULL, tokens_used INTEGER NOT NULL,
     created_at_ms INTEGER NOT NULL, updated_at_ms INTEGER NOT NULL, is_archived INTEGER NOT NULL) STRICT;
   CREATE TABLE model_state (
     session_id TEXT NOT NULL, key TEXT NOT NULL, value TEXT NOT NULL, PRIMARY KEY (session_id, key)) STRICT;
   CREATE TABLE operations (
     id TEXT PRIMARY KEY, session_id TEXT NOT NULL, kind TEXT NOT NULL, state TEXT NOT NULL,
     text TEXT NOT NULL, max_turns INTEGER NOT NULL, is_interactive INTEGER NOT NULL,
     idempotency_key TEXT, request_hash TEXT, epoch TEXT, after_seq INTEGER,
     turn_count INTEGER NOT NULL, usage TEXT NOT NULL, complete_event TEXT, complete_seq INTEGER,
     created_at_ms INTEGER NOT NULL, ended_at_ms INTEGER,
     UNIQUE (session_id, kind, idempotency_key)) STRICT;
   CREATE INDEX operations_by_state ON operations (session_id, state);
   CREATE TABLE started_calls (
     operation_id TEXT NOT NULL, tool_use_id TEXT NOT NULL, PRIMARY KEY (operation_id, tool_use_id)) STRICT;
   CREATE TABLE settled_questions (
     ordinal INTEGER PRIMARY KEY AUTOINCREMENT, session_id TEXT NOT NULL, key TEXT NOT NULL) STRICT;
   CREATE INDEX settled_questions_by_session ON settled_questions (session_id, ordinal)`,
  `CREATE TABLE agents (
     id TEXT PRIMARY KEY, session_id TEXT NOT NULL, ordinal INTEGER NOT NULL, parent_id TEXT,
     parent_tool_use_id TEXT, title TEXT NOT NULL, type TEXT NOT NULL, depth INTEGER NOT NULL,
     status TEXT NOT NULL, model TEXT NOT NULL, model_profile TEXT NOT NULL, is_interactive INTEGER NOT NULL,
     created_at_ms INTEGER NOT NULL, finished_at_ms INTEGER, usage TEXT NOT NULL, final_result TEXT NOT NULL,
     error TEXT NOT NULL, has_callback INTEGER NOT NULL, callback_state TEXT NOT NULL, callback_message_id TEXT,
     callback_epoch INTEGER NOT NULL, operation_id TEXT NOT NULL, run_epoch TEXT, run_after_seq INTEGER,
     idempotency_key TEXT, request_hash TEXT,
     UNIQUE (session_id, ordinal), UNIQUE (session_id, idempotency_key)) STRICT;
   CREATE TABLE agent_runs (
     operation_id TEXT PRIMARY KEY, session_id TEXT NOT NULL, root_operation_id TEXT NOT NULL) STRICT;
   CREATE TABLE agent_inputs (
     session_id TEXT NOT NULL, idempotency_key TEXT NOT NULL, request_hash TEXT NOT NULL,
     callback_epoch INTEGER NOT NULL, at_ms INTEGER NOT NULL, PRIMARY KEY (session_id, idempotency_key)) STRICT;
   CREATE TABLE agent_deliveries (
     agent_id TEXT NOT NULL, callback_epoch INTEGER NOT NULL, message_id TEXT NOT NULL, assistant_id TEXT NOT NULL,
     PRIMARY KEY (agent_id, callback_epoch)) STRICT`,
];

const sessionRow = z
  .object({
    id: z.string(),
    cwd: z.string(),
    title: z.string(),
    model_profile: z.string().nullable(),
    created_at_ms: z.number(),
  })
  .transform(
    (row): SessionRecord => ({
      sessionId: row.id,
      cwd: row.cwd,
      title: row.title,
      modelProfile: row.model_profile ?? undefined,
      createdAtMs: row.created_at_ms,
    }),
  );

const valueRow = z.object({ value: z.string() });
const MAX_TITLE_CHARS = 200;
const MAX_FIRST_MESSAGE_CHARS = 500;
const DEFAULT_SESSION = "default_session";

/** The index of sessions and the small values kept with them. Every call is durable when it returns. */
export class SessionStore {
  readonly #database: DatabaseSync;

  constructor(database: DatabaseSync) {
    this.#database = database;
  }

  get defaultSessionId(): string | undefined {
    const row = this.#database.prepare("SELECT value FROM facts WHERE name = ?").get(DEFAULT_SESSION);
    return row === undefined ? undefined : valueRow.parse(row).value;
  }

  set defaultSessionId(sessionId: string | undefined) {
    this.#database
      .prepare("INSERT OR REPLACE INTO facts VALUES (?, ?)")
      .run(DEFAULT_SESSION, sessionId ?? "");
  }

  find(sessionId: string): SessionRecord | undefined {
    const row = this.#database.prepare("SELECT * FROM sessions WHERE id = ?").get(sessionId);
    return row === undefined ? undefined : sessionRow.parse(row);
  }

  insert({ sessionId, cwd, createdAtMs }: Pick<SessionRecord, "sessionId" | "cwd" | "createdAtMs">): void {
    this.#database
      .prepare("INSERT INTO sessions VALUES (?, ?, '', NULL, '', 0, 0, ?, ?, 0)")
      .run(sessionId, cwd, createdAtMs, createdAtMs);
  }

  /** A stored session is in use again: it leaves the archive. */
  touch(sessionId: string): void {
    this.#database.prepare("UPDATE sessions SET is_archived = 0 WHERE id = ?").run(sessionId);
  }

  /** The first message gives a session its title. */
  setFirstMessage(sessionId: string, text: string): void {
    this.#database
      .prepare(
        "UPDATE sessions SET title = ?, first_user_message = ? WHERE id = ? AND first_user_message = ''",
      )
      .run(
        text.slice(0, MAX_TITLE_CHARS).toWellFormed(),
        text.slice(0, MAX_FIRST_MESSAGE_CHARS).toWellFormed(),
        sessionId,
      );
  }

  setModelProfile(sessionId: string, profile: string): void {
    this.#database.prepare("UPDATE sessions SET model_profile = ? WHERE id = ?").run(profile, sessionId);
  }

  /** Called at the end of a turn. */
  setProgress(
    sessionId: string,
    progress: { messageCount: number; addedTokens: number; nowMs: number },
  ): void {
    this.#database
      .prepare(
        "UPDATE sessions SET message_count = ?, tokens_used = tokens_used + ?, updated_at_ms = ? WHERE id = ?",
      )
      .run(progress.messageCount, progress.addedTokens, progress.nowMs, sessionId);
  }

  readModelState(sessionId: string, key: string): string | undefined {
    const row = this.#database
      .prepare("SELECT value FROM model_state WHERE session_id = ? AND key = ?")
      .get(sessionId, key);
    return row === undefined ? undefined : valueRow.parse(row).value;
  }

  writeModelState(sessionId: string, entry: { key: string; value: string }): void {
    this.#database
      .prepare("INSERT OR REPLACE INTO model_state VALUES (?, ?, ?)")
      .run(sessionId, entry.key, entry.value);
  }

  /** Keys of settled questions, oldest first, at most `limit`. */
  settledQuestions(sessionId: string, limit: number): string[] {
    const rows = this.#database
      .prepare(
        "SELECT key AS value FROM settled_questions WHERE session_id = ? ORDER BY ordinal DESC LIMIT ?",
      )
      .all(sessionId, limit);
    return rows.map((row) => valueRow.parse(row).value).reverse();
  }

  addSettledQuestion(sessionId: string, entry: { key: string; keep: number }): void {
    this.#database
      .prepare("INSERT INTO settled_questions (session_id, key) VALUES (?, ?)")
      .run(sessionId, entry.key);
    this.#database
      .prepare(
        `DELETE FROM settled_questions WHERE session_id = ?1 AND ordinal <= (
           SELECT ordinal FROM settled_questions WHERE session_id = ?1 ORDER BY ordinal DESC LIMIT 1 OFFSET ?2)`,
      )
      .run(sessionId, entry.keep);
  }
}
