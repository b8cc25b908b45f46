export { type Migration, type OpenDatabaseOptions, openDatabase } from "./database.ts";
export { SqliteEventLogStore, type SqliteEventLogStoreOptions } from "./sqlite-event-log.ts";
