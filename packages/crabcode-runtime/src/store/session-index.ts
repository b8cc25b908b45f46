import type { DatabaseSync, SQLInputValue } from "node:sqlite";
import { inTransaction } from "@trivium/core/node";
import { z } from "zod";
import { knownTime } from "./known-time.ts";
import { HAS_WORD, hasWordParameters, MessageSearch, type SearchWords } from "./message-search.ts";
import type { TranscriptEntry } from "./transcript.ts";

/** Everything the index knows of a session. */
export interface SessionRow {
  readonly sessionId: string;
  readonly cwd: string;
  readonly title: string;
  /** "" before it was loaded for the first time. */
  readonly modelProfile: string;
  readonly firstUserMessage: string;
  readonly messageCount: number;
  readonly tokensUsed: number;
  readonly createdAtMs: number;
  readonly updatedAtMs: number;
  readonly isArchived: boolean;
  readonly gitBranch: string | undefined;
}

/** Which sessions; all of it must hold. */
export interface SessionFilter {
  /** Sessions in memory that are wanted. */
  readonly wantedLoaded: readonly string[];
  /** All sessions in memory. */
  readonly loaded: readonly string[];
  /** Sessions that are not in memory: those in the archive, those that are not. */
  readonly wantsArchived: boolean;
  readonly wantsStored: boolean;
  /** Undefined: any. */
  readonly cwd: string | undefined;
  /** Each is in the title or in a message, whatever its case. */
  readonly words: readonly string[];
}

/** The place of a session in the list: its last update, then its id. */
export type SessionPosition = readonly [updatedAtMs: number, sessionId: string];

const sessionRow = z
  .object({
    id: z.string(),
    cwd: z.string(),
    title: z.string(),
    model_profile: z.string().nullable(),
    last_model_profile: z.string(),
    first_user_message: z.string(),
    message_count: z.number(),
    tokens_used: z.number(),
    created_at_ms: z.number(),
    updated_at_ms: z.number(),
    is_archived: z.number(),
    git_branch: z.string().nullable(),
  })
  .transform(
    (row): SessionRow => ({
      sessionId: row.id,
      cwd: row.cwd,
      title: row.title,
      modelProfile: row.model_profile ?? row.last_model_profile,
      firstUserMessage: row.first_user_message,
      messageCount: row.message_count,
      tokensUsed: row.tokens_used,
      createdAtMs: row.created_at_ms,
      updatedAtMs: row.updated_at_ms,
      isArchived: row.is_archived !== 0,
      gitBranch: row.git_branch ?? undefined,
    }),
  );

/** Finds sessions without reading their transcripts. Every change is durable when it returns. */
export class SessionIndex {
  readonly #database: DatabaseSync;
  readonly #search: MessageSearch;

  constructor(database: DatabaseSync, search: MessageSearch = new MessageSearch(database)) {
    this.#database = database;
    this.#search = search;
  }

  find(sessionId: string): SessionRow | undefined {
    const row = this.#database.prepare("SELECT * FROM sessions WHERE id = ?").get(sessionId);
    return row === undefined ? undefined : sessionRow.parse(row);
  }

  split(query: string): SearchWords {
    return this.#search.split(query);
  }

  /** Whether every word is in the title or in a message of the session. */
  hasAll(session: SessionRow, words: readonly string[]): boolean {
    return this.#search.hasAll(session, words);
  }

  /** Sessions behind a place, the one that changed last first. */
  list(filter: SessionFilter, { after, limit }: { after?: SessionPosition; limit: number }): SessionRow[] {
    const [condition, parameters] = where(filter);
    const place = after === undefined ? "" : "AND (updated_at_ms < ? OR (updated_at_ms = ? AND id > ?))";
    const placeParameters = after === undefined ? [] : [after[0], after[0], after[1]];
    return this.#database
      .prepare(`SELECT * FROM sessions WHERE ${condition} ${place} ORDER BY updated_at_ms DESC, id LIMIT ?`)
      .all(...parameters, ...placeParameters, limit)
      .map((row) => sessionRow.parse(row));
  }

  count(filter: SessionFilter): number {
    const [condition, parameters] = where(filter);
    const row = this.#database
      .prepare(`SELECT count(*) AS count FROM sessions WHERE ${condition}`)
      .get(...parameters);
    return Number(row?.["count"]);
  }

  /** A session that was made elsewhere. Part of the caller's transaction. Its messages follow by {@link SessionIndex.reconcile}. */
  insert(row: SessionRow): void {
    this.#database
      .prepare(
        `INSERT INTO sessions (id, cwd, title, title_origin, git_branch, first_user_message, message_count, tokens_used,
           created_at_ms, updated_at_ms, is_archived)
         VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
      )
      .run(
        row.sessionId,
        row.cwd,
        row.title,
        row.firstUserMessage.startsWith(row.title) ? "message" : "given",
        row.gitBranch ?? null,
        row.firstUserMessage,
        row.messageCount,
        row.tokensUsed,
        row.createdAtMs,
        row.updatedAtMs,
        row.isArchived ? 1 : 0,
      );
  }

  rename(sessionId: string, { title, nowMs }: { title: string; nowMs: number }): void {
    this.#database
      .prepare("UPDATE sessions SET title = ?, title_origin = 'given', updated_at_ms = ? WHERE id = ?")
      .run(title, nowMs, sessionId);
  }

  setArchived(sessionId: string, isArchived: boolean): void {
    this.#database
      .prepare("UPDATE sessions SET is_archived = ? WHERE id = ?")
      .run(isArchived ? 1 : 0, sessionId);
  }

  /** A message was written to the transcript at that place, from 0. */
  messageWritten(sessionId: string, ordinal: number, { message, timestamp }: TranscriptEntry): void {
    inTransaction(this.#database, () => {
      this.#search.add(sessionId, ordinal, message);
      this.#database
        .prepare(
          "UPDATE sessions SET message_count = ?1, indexed_count = ?1, updated_at_ms = max(updated_at_ms, ?2) WHERE id = ?3",
        )
        .run(ordinal + 1, timeOf(timestamp), sessionId);
    });
  }

  /** Sessions with messages that were not taken in: an earlier release knew of no search. */
  incomplete(): string[] {
    return this.#database
      .prepare("SELECT id FROM sessions WHERE indexed_count < message_count ORDER BY updated_at_ms DESC")
      .all()
      .map((row) => String(row["id"]));
  }

  /** Takes in what the transcript holds and the index does not: a process may end between the two. */
  reconcile(sessionId: string, entries: readonly TranscriptEntry[]): void {
    const row = this.#database.prepare("SELECT indexed_count FROM sessions WHERE id = ?").get(sessionId);
    const knownCount = Number(row?.["indexed_count"] ?? 0);
    if (knownCount === entries.length) return;
    // Of a transcript that lost lines nothing need be where it was.
    const indexedCount = knownCount > entries.length ? 0 : knownCount;
    inTransaction(this.#database, () => {
      if (indexedCount < knownCount) this.#search.remove(sessionId);
      for (const [ordinal, { message }] of entries.entries()) {
        if (ordinal >= indexedCount) this.#search.add(sessionId, ordinal, message);
      }
      this.#database
        .prepare(
          "UPDATE sessions SET message_count = ?1, indexed_count = ?1, updated_at_ms = max(updated_at_ms, ?2) WHERE id = ?3",
        )
        .run(entries.length, timeOf(entries.at(-1)?.timestamp ?? ""), sessionId);
    });
  }
}

function where(filter: SessionFilter): [string, SQLInputValue[]] {
  const { wantedLoaded, loaded, wantsArchived, wantsStored, cwd, words } = filter;
  const conditions = [
    `(id IN (SELECT value FROM json_each(?)) OR (id NOT IN (SELECT value FROM json_each(?))
       AND is_archived IN (SELECT value FROM json_each(?))))`,
  ];
  const flags = [...(wantsStored ? [0] : []), ...(wantsArchived ? [1] : [])];
  const parameters: SQLInputValue[] = [wantedLoaded, loaded, flags].map((list) => JSON.stringify(list));
  if (cwd !== undefined) {
    conditions.push("cwd = ?");
    parameters.push(cwd);
  }
  for (const word of words) {
    conditions.push(HAS_WORD);
    parameters.push(...hasWordParameters(word));
  }
  return [conditions.join(" AND "), parameters];
}

function timeOf(timestamp: string): number {
  return knownTime(Date.parse(timestamp)) ?? 0;
}
