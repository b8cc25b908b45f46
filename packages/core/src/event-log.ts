/** One stored event. */
export interface LogEntry {
  /** 1, 2, 3 … without a hole within one epoch. */
  readonly seq: number;
  /** When it was appended, milliseconds since the Unix epoch. */
  readonly atMs: number;
  /** The event, encoded once by its publisher. */
  readonly data: string;
}

/** Names one numbering and what is still kept of it. */
export interface LogBounds {
  /** Changes when the numbering starts again at 1, for example after a loss. */
  readonly epoch: string;
  /** Oldest kept entry; `lastSeq + 1` when nothing is kept. */
  readonly firstSeq: number;
  /** Newest entry; 0 before the first. */
  readonly lastSeq: number;
}

/** What {@link EventLog.prune} leaves. Each limit is optional. */
export interface Retention {
  readonly maxEvents?: number;
  /** UTF-8 bytes of `data`. */
  readonly maxBytes?: number;
  readonly maxAgeMs?: number;
  /** Entries that stay whatever the limits say. */
  readonly keepSeqs?: readonly number[];
}

/**
 * Port for one append-only log of events with a single writer.
 *
 * Written means handed to the operating system: it survives the death of the process.
 */
export interface EventLog {
  readonly bounds: LogBounds;
  /**
   * Appends one event; `encode` gets the number it will have. Calls of one tick are written together, in call
   * order. Resolves when the entry is written; only then do readers see it.
   */
  append(encode: (seq: number) => string): Promise<LogEntry>;
  /** Kept entries after `afterSeq` in order, at most `limit`. */
  readFrom(afterSeq: number, limit: number): Promise<LogEntry[]>;
  /**
   * Entries after `afterSeq`, then each one as it is written, until `signal` aborts or the log closes. Ends
   * without an error in both cases. A slow reader is fed from the log, so it holds no memory. When entries it
   * needs were pruned, the next entry's `seq` jumps; the caller compares.
   */
  tail(afterSeq: number, signal: AbortSignal): AsyncIterable<LogEntry>;
  /** Removes the oldest entries until every limit holds. */
  prune(retention: Retention): Promise<void>;
  /** Writes what is pending and ends all tails. */
  close(): Promise<void>;
}

/** Port for a set of logs by name. */
export interface EventLogStore {
  /** Opens a log, or makes it. Two calls with one name give the same log. */
  open(name: string): Promise<EventLog>;
  /** Numbering and newest entry of a log, without opening it; undefined when there is none. */
  head(name: string): Promise<Pick<LogBounds, "epoch" | "lastSeq"> | undefined>;
  /** Removes a log and its entries. */
  delete(name: string): Promise<void>;
  /** Closes every log. */
  close(): Promise<void>;
}
