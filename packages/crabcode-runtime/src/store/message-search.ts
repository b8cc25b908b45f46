import type { DatabaseSync } from "node:sqlite";
import type { Message } from "../conversation/message.ts";
import { characterCount } from "../text/first-characters.ts";

/** Shorter words are in no index of three characters each. */
const INDEXED_WORD_CHARS = 3;

/**
 * Texts a session can have. The id of a text is the number of its session times this, plus its place: so the index finds
 * sessions without a look at the texts, which is most of the time.
 */
const MAX_TEXTS = 2 ** 24;

/** Words of a query. */
export interface SearchWords {
  /** Those an index can find, as they were given: it has its own idea of what letters are the same. */
  readonly indexed: readonly string[];
  /** Those that need a look at every text; lower case. */
  readonly scanned: readonly string[];
}

/**
 * The texts of messages, and where the build of SQLite has FTS5 an index over their parts of three characters, which
 * finds words anywhere.
 */
export class MessageSearch {
  readonly #database: DatabaseSync;
  readonly #hasIndex: boolean;

  /** @param usesIndex false: as if the build had no FTS5 */
  constructor(database: DatabaseSync, usesIndex = true) {
    this.#database = database;
    database.function("trivium_fold", { deterministic: true }, (text) => String(text).toLowerCase());
    this.#hasIndex = usesIndex && this.#openIndex();
  }

  split(query: string): SearchWords {
    const words = new Map(query.split(/\s+/u).map((word) => [word.toLowerCase(), word]));
    words.delete("");
    // For the index a text ends at a NUL, and the quote behind it would be missing.
    const isIndexed = (word: string): boolean =>
      this.#hasIndex && characterCount(word) >= INDEXED_WORD_CHARS && !word.includes("\0");
    return {
      indexed: [...words.values()].filter(isIndexed),
      scanned: [...words].filter(([, word]) => !isIndexed(word)).map(([folded]) => folded),
    };
  }

  /** Takes in the text of a message; `ordinal` is its place in the transcript. Part of the caller's transaction. */
  add(sessionId: string, ordinal: number, message: Message): void {
    const text = textOf(message);
    if (text === "" || ordinal >= MAX_TEXTS) return;
    this.#database.prepare("INSERT OR IGNORE INTO session_numbers (session_id) VALUES (?)").run(sessionId);
    const id = this.#firstId(sessionId) + ordinal;
    const { changes } = this.#database
      .prepare("INSERT OR IGNORE INTO message_texts (id, text) VALUES (?, ?)")
      .run(id, text);
    if (changes === 0 || !this.#hasIndex) return;
    this.#database.prepare("INSERT INTO message_index (rowid, text) VALUES (?, ?)").run(id, text);
  }

  /** Forgets a session. Part of the caller's transaction. */
  remove(sessionId: string): void {
    const first = this.#firstId(sessionId);
    if (this.#hasIndex) {
      this.#database
        .prepare(
          `INSERT INTO message_index (message_index, rowid, text)
             SELECT 'delete', id, text FROM message_texts WHERE id >= ? AND id < ?`,
        )
        .run(first, first + MAX_TEXTS);
    }
    this.#database
      .prepare("DELETE FROM message_texts WHERE id >= ? AND id < ?")
      .run(first, first + MAX_TEXTS);
    this.#database.prepare("DELETE FROM session_numbers WHERE session_id = ?").run(sessionId);
  }

  /** Whether every word is in the title or in one of the texts of a session. */
  hasAll(session: { readonly sessionId: string; readonly title: string }, words: readonly string[]): boolean {
    const title = session.title.toLowerCase();
    const missing = new Set(words.filter((word) => !title.includes(word)));
    if (missing.size === 0) return true;
    const first = this.#firstId(session.sessionId);
    const rows = this.#database
      .prepare("SELECT text FROM message_texts WHERE id >= ? AND id < ?")
      .iterate(first, first + MAX_TEXTS);
    for (const row of rows) {
      const text = String(row["text"]).toLowerCase();
      for (const word of missing) if (text.includes(word)) missing.delete(word);
      if (missing.size === 0) return true;
    }
    return false;
  }

  /** Where the ids of a session's texts begin; 0, where nothing is, for one without texts. */
  #firstId(sessionId: string): number {
    const row = this.#database
      .prepare("SELECT number FROM session_numbers WHERE session_id = ?")
      .get(sessionId);
    return Number(row?.["number"] ?? 0) * MAX_TEXTS;
  }

  #openIndex(): boolean {
    try {
      this.#database.exec(
        `CREATE VIRTUAL TABLE IF NOT EXISTS message_index
           USING fts5(text, content = 'message_texts', content_rowid = 'id', tokenize = 'trigram')`,
      );
    } catch {
      // This build of SQLite has no FTS5.
      return false;
    }
    // A build without FTS5 may have written texts since.
    const last = this.#database
      .prepare(
        `SELECT coalesce((SELECT max(id) FROM message_texts), 0) AS text_id,
           coalesce((SELECT max(id) FROM message_index_docsize), 0) AS indexed_id`,
      )
      .get();
    if (Number(last?.["text_id"]) > Number(last?.["indexed_id"])) {
      this.#database.exec("INSERT INTO message_index (message_index) VALUES ('rebuild')");
    }
    return true;
  }
}

/** SQL that is true for sessions with the word in the title or in a text; it takes the word, then its pattern. */
export const HAS_WORD: string = `(instr(trivium_fold(title), trivium_fold(?)) > 0 OR id IN (
  SELECT session_id FROM session_numbers WHERE number IN (
    SELECT rowid / ${MAX_TEXTS} FROM message_index WHERE message_index MATCH ?)))`;

/** What the parameters of {@link HAS_WORD} are for a word. */
export function hasWordParameters(word: string): [string, string] {
  return [word, `"${word.replaceAll('"', '""')}"`];
}

function textOf({ content }: Message): string {
  return content.flatMap((block) => (block.type === "text" ? [block.text] : [])).join("\n");
}
