/** What the stored values of one session may take, in bytes. */
export const MAX_STORED_BYTES: number = 64 * 1024 * 1024;

/** What an entry takes beside its texts. */
const ENTRY_BYTES = 128;

/** What one stored value counts: its key and its JSON text in UTF-8, and 128 bytes. */
export function storedEntryBytes(key: string, json: string): number {
  return Buffer.byteLength(key) + Buffer.byteLength(json) + ENTRY_BYTES;
}
