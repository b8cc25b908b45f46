export { abortable, type LinkOptions, linkSignals, type OwnedSignal } from "./abort.ts";
export { abortReason } from "./abort-reason.ts";
export { AsyncQueue } from "./async-queue.ts";
export { type Clock, sleep, systemClock } from "./clock.ts";
export type { EventLog, EventLogStore, LogBounds, LogEntry, Retention } from "./event-log.ts";
export { type IdSource, randomIds } from "./ids.ts";
export { type LogFields, type Logger, silentLogger } from "./logger.ts";
export { MemoryEventLogStore } from "./memory-event-log.ts";
export { type ErrorKind, TriviumError } from "./trivium-error.ts";
