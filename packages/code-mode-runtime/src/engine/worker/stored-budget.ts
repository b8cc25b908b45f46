import { MAX_STORED_BYTES, storedEntryBytes } from "../stored-bytes.ts";

/** Counts what the stored values that one program sees would take: those of its session, and its own writes. */
export class StoredBudget {
  readonly #snapshot: ReadonlyMap<string, string>;
  /** Bytes of the program's own entries. */
  readonly #writes = new Map<string, number>();
  #usedBytes: number | undefined;

  constructor(snapshot: ReadonlyMap<string, string>) {
    this.#snapshot = snapshot;
  }

  /** Counts a write that replaces what the key had; false, and nothing changes, when it does not fit. */
  admit(key: string, json: string): boolean {
    const usedBytes = this.#usedBytes ?? this.#snapshotBytes();
    const bytes = storedEntryBytes(key, json);
    const afterBytes = usedBytes - this.#bytesOf(key) + bytes;
    const isAdmitted = afterBytes <= MAX_STORED_BYTES;
    this.#usedBytes = isAdmitted ? afterBytes : usedBytes;
    if (isAdmitted) this.#writes.set(key, bytes);
    return isAdmitted;
  }

  #bytesOf(key: string): number {
    const json = this.#snapshot.get(key);
    return this.#writes.get(key) ?? (json === undefined ? 0 : storedEntryBytes(key, json));
  }

  #snapshotBytes(): number {
    let bytes = 0;
    for (const [key, json] of this.#snapshot) bytes += storedEntryBytes(key, json);
    return bytes;
  }
}
