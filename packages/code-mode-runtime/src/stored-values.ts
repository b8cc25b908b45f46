import { MAX_STORED_BYTES, storedEntryBytes } from "./engine/stored-bytes.ts";

/** Why a program's values were not kept, as its error text. */
export const STORED_VALUES_FULL_TEXT: string = `exec stored values of the session take at most ${MAX_STORED_BYTES} bytes; none of this cell were kept`;

/**
 * The stored values of a session, and what its running programs have written.
 *
 * A program sees to it that what it sees fits. Programs side by side do not see each other, so this counts again: their
 * writes together, and what a commit makes of the session's values.
 */
export class StoredValues {
  /** Replaced, never changed, by a commit: cells hold it as their snapshot. */
  #values: ReadonlyMap<string, string> = new Map();
  #bytes = 0;
  #pendingBytes = 0;

  get snapshot(): ReadonlyMap<string, string> {
    return this.#values;
  }

  /** The writes of a new program. */
  begin(): StoredWrites {
    return new StoredWrites({
      reserve: (bytes) => {
        if (bytes > 0 && this.#pendingBytes + bytes > MAX_STORED_BYTES) return false;
        this.#pendingBytes += bytes;
        return true;
      },
      commit: (writes) => this.#commit(writes),
    });
  }

  #commit(writes: ReadonlyMap<string, string>): boolean {
    if (writes.size === 0) return true;
    let bytes = this.#bytes;
    for (const [key, json] of writes) {
      const old = this.#values.get(key);
      bytes += storedEntryBytes(key, json) - (old === undefined ? 0 : storedEntryBytes(key, old));
    }
    if (bytes > MAX_STORED_BYTES) return false;
    this.#bytes = bytes;
    this.#values = new Map([...this.#values, ...writes]);
    return true;
  }
}

/** What writes need of their session. */
interface StoredOwner {
  /** Counts so many bytes more; false when they do not fit. */
  readonly reserve: (bytes: number) => boolean;
  /** False when the result would not fit: nothing has changed then. */
  readonly commit: (writes: ReadonlyMap<string, string>) => boolean;
}

/** What one program has written and nobody else sees yet. */
export class StoredWrites {
  readonly #session: StoredOwner;
  #writes = new Map<string, string>();
  #bytes = 0;
  #isRefused = false;

  constructor(session: StoredOwner) {
    this.#session = session;
  }

  /** Past the session's budget the program's writes are given up as a whole. */
  set(key: string, json: string): void {
    if (this.#isRefused) return;
    const old = this.#writes.get(key);
    const bytes = storedEntryBytes(key, json) - (old === undefined ? 0 : storedEntryBytes(key, old));
    if (!this.#session.reserve(bytes)) {
      this.discard();
      this.#isRefused = true;
      return;
    }
    this.#bytes += bytes;
    this.#writes.set(key, json);
  }

  /** Makes them the session's. False when they do not fit: nothing is kept then. */
  commit(): boolean {
    const isKept = !this.#isRefused && this.#session.commit(this.#writes);
    this.discard();
    return isKept;
  }

  /** Lets go of them. */
  discard(): void {
    this.#session.reserve(-this.#bytes);
    this.#bytes = 0;
    this.#writes = new Map();
  }
}
