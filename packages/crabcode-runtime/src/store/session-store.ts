import type { DatabaseSync } from "node:sqlite";
import { z } from "zod";
import { firstCharacters } from "../text/first-characters.ts";

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

/** A session to be made. */
export interface NewSession extends Pick<SessionRecord, "sessionId" | "cwd" | "createdAtMs"> {
  /** A title for good. "" or absent: it gets one from its first message. */
  readonly title?: string;
  readonly modelProfile?: string | undefined;
  readonly gitBranch?: string | undefined;
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
  `ALTER TABLE sessions ADD COLUMN title_origin TEXT NOT NULL DEFAULT 'message';
   ALTER TABLE sessions ADD COLUMN last_model_profile TEXT NOT NULL DEFAULT '';
   ALTER TABLE sessions ADD COLUMN git_branch TEXT;
   ALTER TABLE sessions ADD COLUMN indexed_count INTEGER NOT NULL DEFAULT 0;
   CREATE INDEX sessions_by_update ON sessions (updated_at_ms DESC, id);
   CREATE TABLE session_numbers (
     number INTEGER PRIMARY KEY AUTOINCREMENT, session_id TEXT NOT NULL UNIQUE) STRICT;
   CREATE TABLE message_texts (id INTEGER PRIMARY KEY, text TEXT NOT NULL) STRICT;
   CREATE TABLE create_requests (
     idempotency_key TEXT PRIMARY KEY, session_id TEXT NOT NULL, request_hash TEXT NOT NULL, response TEXT,
     at_ms INTEGER NOT NULL) STRICT;
   CREATE TABLE removals (session_id TEXT PRIMARY KEY, cwd TEXT NOT NULL) STRICT`,
  `CREATE TABLE checkpoints (
     ordinal INTEGER PRIMARY KEY AUTOINCREMENT, id TEXT NOT NULL UNIQUE, session_id TEXT NOT NULL, cwd TEXT NOT NULL,
     label TEXT NOT NULL, created_at_ms INTEGER NOT NULL, message_id TEXT NOT NULL, message_index INTEGER NOT NULL,
     snapshot_id TEXT, file_count INTEGER NOT NULL, is_automatic INTEGER NOT NULL) STRICT;
   CREATE INDEX checkpoints_by_session ON checkpoints (session_id, ordinal);
   CREATE TABLE checkpoint_calls (
     session_id TEXT NOT NULL, method TEXT NOT NULL, idempotency_key TEXT NOT NULL, request_hash TEXT NOT NULL,
     response TEXT NOT NULL, at_ms INTEGER NOT NULL, PRIMARY KEY (session_id, method, idempotency_key)) STRICT`,
  `CREATE TABLE outside_questions (
     session_id TEXT NOT NULL, tool_use_id TEXT NOT NULL, request TEXT NOT NULL,
     PRIMARY KEY (session_id, tool_use_id)) STRICT`,
  `CREATE TABLE left_cells (
     session_id TEXT NOT NULL, operation_id TEXT NOT NULL, epoch TEXT NOT NULL, after_seq INTEGER NOT NULL,
     PRIMARY KEY (session_id, operation_id)) STRICT`,
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

  insert({ sessionId, cwd, createdAtMs, title = "", modelProfile, gitBranch }: NewSession): void {
    this.#database
      .prepare(
        `INSERT INTO sessions (id, cwd, title, title_origin, model_profile, git_branch, first_user_message,
           message_count, tokens_used, created_at_ms, updated_at_ms, is_archived)
         VALUES (?, ?, ?, ?, ?, ?, '', 0, 0, ?, ?, 0)`,
      )
      .run(
        sessionId,
        cwd,
        title,
        title === "" ? "message" : "given",
        modelProfile ?? null,
        gitBranch ?? null,
        createdAtMs,
        createdAtMs,
      );
  }

  /** A stored session is in use again: it leaves the archive. */
  touch(sessionId: string): void {
    this.#database.prepare("UPDATE sessions SET is_archived = 0 WHERE id = ?").run(sessionId);
  }

  /** The first message gives a session its title, unless it has one. */
  setFirstMessage(sessionId: string, text: string): void {
    this.#database
      .prepare(
        `UPDATE sessions SET first_user_message = ?2, title = CASE title WHEN '' THEN ?3 ELSE title END
           WHERE id = ?1 AND first_user_message = ''`,
      )
      .run(sessionId, firstCharacters(text, MAX_FIRST_MESSAGE_CHARS), firstCharacters(text, MAX_TITLE_CHARS));
  }

  /** The session is in memory with this profile. */
  setLastModelProfile(sessionId: string, profile: string): void {
    this.#database.prepare("UPDATE sessions SET last_model_profile = ? WHERE id = ?").run(profile, sessionId);
  }

  /** The title, as long as it is only the beginning of the first message and none was asked for. Gives it once. */
  claimTitle(sessionId: string): string | undefined {
    const row = this.#database
      .prepare(
        `UPDATE sessions SET title_origin = 'asked' WHERE id = ? AND title_origin = 'message'
           RETURNING title AS value`,
      )
      .get(sessionId);
    return row === undefined ? undefined : valueRow.parse(row).value;
  }

  /** Takes a generated title, unless the session got another one since {@link SessionStore.claimTitle}. */
  setGeneratedTitle(sessionId: string, { title, nowMs }: { title: string; nowMs: number }): void {
    this.#database
      .prepare(
        `UPDATE sessions SET title = ?, title_origin = 'generated', updated_at_ms = ?
           WHERE id = ? AND title_origin = 'asked'`,
      )
      .run(title, nowMs, sessionId);
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

  /** Requests that belong to no operation and were not settled, as JSON. */
  outsideQuestions(sessionId: string): string[] {
    const rows = this.#database
      .prepare("SELECT request AS value FROM outside_questions WHERE session_id = ?")
      .all(sessionId);
    return rows.map((row) => valueRow.parse(row).value);
  }

  addOutsideQuestion(
    sessionId: string,
    { toolUseId, request }: { toolUseId: string; request: string },
  ): void {
    this.#database
      .prepare("INSERT OR REPLACE INTO outside_questions (session_id, tool_use_id, request) VALUES (?, ?, ?)")
      .run(sessionId, toolUseId, request);
  }

  removeOutsideQuestion(sessionId: string, toolUseId: string): void {
    this.#database
      .prepare("DELETE FROM outside_questions WHERE session_id = ? AND tool_use_id = ?")
      .run(sessionId, toolUseId);
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

  removeSettledQuestion(sessionId: string, key: string): void {
    this.#database
      .prepare("DELETE FROM settled_questions WHERE session_id = ? AND key = ?")
      .run(sessionId, key);
  }
}
