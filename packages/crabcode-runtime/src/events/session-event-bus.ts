import { type Clock, type EventLog, type LogEntry, type Logger, TriviumError } from "@trivium/core";
import type { CrabcodeSessionEvent } from "@trivium/proto/crabcode-events";
import { z } from "zod";

/** What surrounds an event: the operation it belongs to and the keys that only some events have. */
export interface EventContext {
  readonly operationId?: string;
  readonly scope?: "foreground" | "background";
  readonly parentToolUseId?: string;
  /** RFC 3339, or null for never; questions only. */
  readonly expiresAt?: string | null;
}

/** An event of a session as it is in the log: the bytes every stream gets. */
export interface PublishedEvent {
  readonly seq: number;
  readonly type: string;
  readonly operationId: string | undefined;
  /** UTF-8 JSON. */
  readonly data: string;
}

/** Gets every event of a session, in order, right after it was written. */
export interface EventListener {
  deliver(event: PublishedEvent): void;
  /** The session publishes no more. */
  end(): void;
}

/** What a bus is made of. */
export interface SessionEventBusDeps {
  readonly sessionId: string;
  readonly log: EventLog;
  readonly clock: Clock;
  readonly logger: Logger;
}

const header = z.object({ type: z.string(), operation_id: z.string().optional() });

/**
 * Numbers, encodes, logs and hands out the events of one session.
 *
 * Publishing never waits for a reader: an event is written to the log, then given to every listener in one
 * go. Listeners bound their own memory.
 */
export class SessionEventBus {
  readonly sessionId: string;
  readonly #log: EventLog;
  readonly #clock: Clock;
  readonly #logger: Logger;
  readonly #listeners = new Set<EventListener>();
  #deliveredSeq: number;
  #tail: Promise<void> = Promise.resolve();
  #failure: unknown;
  #isClosed = false;

  constructor({ sessionId, log, clock, logger }: SessionEventBusDeps) {
    this.sessionId = sessionId;
    this.#log = log;
    this.#clock = clock;
    this.#logger = logger;
    this.#deliveredSeq = log.bounds.lastSeq;
  }

  get epoch(): string {
    return this.#log.bounds.epoch;
  }

  /** Oldest event that is kept; one more than {@link SessionEventBus.seq} when none is. */
  get firstSeq(): number {
    return this.#log.bounds.firstSeq;
  }

  /** Last event given to listeners; 0 before the first. */
  get seq(): number {
    return this.#deliveredSeq;
  }

  /** Publishes without waiting. A write that fails is reported by {@link SessionEventBus.flush}. */
  publish(event: CrabcodeSessionEvent, context: EventContext = {}): void {
    // The failure is kept for flush(); nobody waits here.
    this.publishAndWait(event, context).catch(() => {});
  }

  /** Publishes; resolves when the event was written and given to every listener. */
  publishAndWait(event: CrabcodeSessionEvent, context: EventContext = {}): Promise<PublishedEvent> {
    if (this.#isClosed) {
      return Promise.reject(new TriviumError("unavailable", `session ${this.sessionId} is closed`));
    }
    const ts = new Date(this.#clock.now()).toISOString();
    const appended = this.#log.append((seq) =>
      encode(event, { session_id: this.sessionId, epoch: this.epoch, seq, ts }, context),
    );
    const delivered = this.#tail
      .then(() => appended)
      .then((entry) => this.#deliver(entry, event.type, context.operationId));
    this.#tail = delivered.then(
      () => {},
      (cause: unknown) => {
        this.#failure ??= cause;
        this.#logger.error(
          { sessionId: this.sessionId, type: event.type, cause },
          "an event was not written",
        );
      },
    );
    return delivered;
  }

  /**
   * Waits until everything published so far was written and given to listeners.
   *
   * @throws the first failed write since the last call.
   */
  async flush(): Promise<void> {
    await this.#tail;
    const failure = this.#failure;
    this.#failure = undefined;
    if (failure !== undefined) {
      throw new TriviumError("internal", "events of the session could not be written", { cause: failure });
    }
  }

  /** Kept events after `afterSeq`, at most `limit`. */
  async readFrom(afterSeq: number, limit: number): Promise<PublishedEvent[]> {
    const entries = await this.#log.readFrom(afterSeq, limit);
    return entries.map((entry) => {
      const parsed = header.parse(JSON.parse(entry.data));
      return { seq: entry.seq, data: entry.data, type: parsed.type, operationId: parsed.operation_id };
    });
  }

  /** Removes old events; see {@link EventLog.prune}. */
  prune(retention: Parameters<EventLog["prune"]>[0]): Promise<void> {
    return this.#log.prune(retention);
  }

  listen(listener: EventListener): Disposable {
    if (this.#isClosed) listener.end();
    else this.#listeners.add(listener);
    return { [Symbol.dispose]: () => this.#listeners.delete(listener) };
  }

  /** Writes what is pending, ends every listener and closes the log. */
  async close(): Promise<void> {
    this.#isClosed = true;
    await this.#tail;
    for (const listener of this.#listeners) listener.end();
    this.#listeners.clear();
    await this.#log.close();
  }

  #deliver(entry: LogEntry, type: string, operationId: string | undefined): PublishedEvent {
    const event = { seq: entry.seq, type, operationId, data: entry.data };
    this.#deliveredSeq = entry.seq;
    for (const listener of this.#listeners) listener.deliver(event);
    return event;
  }
}

function encode(
  event: CrabcodeSessionEvent,
  position: { session_id: string; epoch: string; seq: number; ts: string },
  context: EventContext,
): string {
  return JSON.stringify({
    ...event,
    ...position,
    operation_id: context.operationId,
    operation_scope: context.operationId === undefined ? undefined : (context.scope ?? "foreground"),
    parent_tool_use_id: context.parentToolUseId,
    expires_at: context.expiresAt,
  });
}
