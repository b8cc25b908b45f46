export { type Migration, type OpenDatabaseOptions, openDatabase } from "./database.ts";
export { makeFolder, makeFolderSync } from "./make-folder.ts";
export { allocateBytes, freeBytes } from "./owned-bytes.ts";
export { SqliteEventLogStore, type SqliteEventLogStoreOptions } from "./sqlite-event-log.ts";
export { inTransaction } from "./transaction.ts";
