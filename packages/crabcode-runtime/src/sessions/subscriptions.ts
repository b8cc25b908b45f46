import { abortReason, type Clock, sleep } from "@trivium/core";
import type {
  GapReason,
  ServerConnectedEvent,
  ServerGapEvent,
  ServerHeartbeatEvent,
} from "@trivium/proto/crabcode-events";
import { CrabcodeError } from "../crabcode-error.ts";
import type { StreamEvent, SubscribeInput, Subscription } from "../crabcode-runtime.ts";
import { type Cursor, parseCursors } from "../events/cursor.ts";
import { EventStream } from "../events/event-stream.ts";
import { SessionFeed } from "../events/session-feed.ts";
import type { Session } from "./session.ts";
import type { SessionRegistry } from "./session-registry.ts";

/** A closing session waits this long for its readers to take what is published. */
const DRAIN_MS = 1000;

/** What subscriptions are made of. */
export interface SubscriptionsDeps {
  readonly registry: SessionRegistry;
  readonly clock: Clock;
  readonly version: string;
}

/** Every live subscription, of one session or of all. */
export class Subscriptions {
  readonly #deps: SubscriptionsDeps;
  /** Streams with the session they belong to; undefined for all sessions. */
  readonly #streams = new Map<EventStream, { sessionId: string | undefined; closed: Promise<void> }>();

  constructor(deps: SubscriptionsDeps) {
    this.#deps = deps;
  }

  async subscribe(input: SubscribeInput): Promise<Subscription> {
    const { sessionId } = input.session;
    const cursors = input.afterSeq === undefined ? [] : parseCursors(input.afterSeq, sessionId);
    return sessionId === "" ? this.#subscribeToAll(input, cursors) : this.#subscribeToOne(input, cursors[0]);
  }

  /** Lets the readers of a session take what is published, for a second at most; then they end. */
  async finish(sessionId: string): Promise<void> {
    await this.#drain([...this.#streams].filter(([, entry]) => entry.sessionId === sessionId));
  }

  /** Ends every stream with `failure` once it was read, after a second at the latest. */
  async finishAll(failure: Error): Promise<void> {
    await this.#drain([...this.#streams], failure);
  }

  async #subscribeToOne(input: SubscribeInput, cursor: Cursor | undefined): Promise<Subscription> {
    const { registry, version } = this.#deps;
    const session = await registry.resolve(input.session, input.onSession);
    const { sessionId, properties } = session;
    const stream = this.#open(input, { sessionId, heartbeat: () => session.heartbeat() });
    const connected: ServerConnectedEvent = {
      type: "server.connected",
      properties: { session_id: sessionId, ...properties, version },
    };
    stream.put(encoded(connected));
    addSession(stream, session, cursor);
    return { sessionId, events: stream };
  }

  async #subscribeToAll(input: SubscribeInput, cursors: readonly Cursor[]): Promise<Subscription> {
    const { registry, version } = this.#deps;
    const gone: Cursor[] = [];
    for (const cursor of cursors) {
      // A session that is only stored has events after the cursor too.
      if ((await registry.find(cursor.sessionId ?? "")) === undefined) gone.push(cursor);
    }
    const heartbeat: ServerHeartbeatEvent = {
      type: "server.heartbeat",
      properties: { session_id: null, epoch: null, seq: null, model: null },
    };
    const stream = this.#open(input, { sessionId: undefined, heartbeat: () => encoded(heartbeat) });
    const sessions = registry.loaded.filter((session) => !session.isClosing);
    const connected: ServerConnectedEvent = {
      type: "server.connected",
      properties: {
        session_id: null,
        epoch: null,
        seq: null,
        model: null,
        mode: null,
        busy: null,
        version,
        sessions: Object.fromEntries(sessions.map((session) => [session.sessionId, session.properties])),
      },
    };
    stream.put(encoded(connected));
    for (const { sessionId = "", epoch = "" } of gone) {
      stream.put(gapEvent({ sessionId, epoch, fromSeq: 0, toSeq: 0, reason: "session_gone" }));
    }
    for (const session of sessions) {
      const cursor = cursors.find(({ sessionId }) => sessionId === session.sessionId);
      addSession(stream, session, cursor);
    }
    return { sessionId: undefined, events: stream };
  }

  #open(
    { signal }: SubscribeInput,
    { sessionId, heartbeat }: { sessionId: string | undefined; heartbeat: () => StreamEvent },
  ): EventStream {
    // The sessions may have taken a while; a stream that nobody reads is not begun.
    if (signal?.aborted === true) throw abortReason(signal);
    const { registry, clock } = this.#deps;
    const { promise: closed, resolve } = Promise.withResolvers<void>();
    const loads =
      sessionId === undefined
        ? registry.onLoad((session) => addSession(stream, session, session.loadedFrom))
        : undefined;
    const stream: EventStream = new EventStream({
      clock,
      signal,
      heartbeat,
      onClose: () => {
        loads?.[Symbol.dispose]();
        this.#streams.delete(stream);
        resolve();
      },
    });
    this.#streams.set(stream, { sessionId, closed });
    return stream;
  }

  async #drain(
    entries: readonly (readonly [EventStream, { closed: Promise<void> }])[],
    failure?: Error,
  ): Promise<void> {
    if (entries.length === 0) return;
    for (const [stream] of entries) stream.finish(failure);
    const done = new AbortController();
    const all = Promise.all(entries.map(([, { closed }]) => closed));
    // The sleep rejects when it is not needed any more.
    await Promise.race([all, sleep(this.#deps.clock, DRAIN_MS, done.signal).catch(() => {})]);
    done.abort();
    for (const [stream] of entries) stream.cut(failure);
  }
}

/** Adds a session's events to a stream: a gap if the cursor cannot be honoured, open questions, then events. */
function addSession(stream: EventStream, session: Session, cursor: Cursor | undefined): void {
  const { bus } = session.parts;
  const { sessionId } = session;
  const { epoch, firstSeq, seq: headSeq } = bus;
  let afterSeq = headSeq;
  let gap: StreamEvent | undefined;
  if (cursor !== undefined) {
    const isSameEpoch = (cursor.epoch === undefined || cursor.epoch === epoch) && cursor.seq <= headSeq;
    afterSeq = isSameEpoch ? Math.max(cursor.seq, firstSeq - 1) : firstSeq - 1;
    if (!isSameEpoch) {
      const isWhole = firstSeq <= 1;
      const previousEpoch = cursor.epoch === epoch ? undefined : cursor.epoch;
      const range = { fromSeq: isWhole ? 0 : 1, toSeq: isWhole ? 0 : firstSeq - 1 };
      gap = gapEvent({ sessionId, epoch, ...range, reason: "epoch", previousEpoch });
    } else if (afterSeq > cursor.seq) {
      const range = { fromSeq: cursor.seq + 1, toSeq: afterSeq };
      gap = gapEvent({ sessionId, epoch, ...range, reason: "retention" });
    }
  }
  if (gap !== undefined) stream.put(gap);
  stream.put(...session.questions.replay(afterSeq));
  stream.add(new SessionFeed(bus, { afterSeq, onReady: () => stream.wake() }));
}

function gapEvent(gap: {
  readonly sessionId: string;
  readonly epoch: string;
  readonly fromSeq: number;
  readonly toSeq: number;
  readonly reason: GapReason;
  readonly previousEpoch?: string | undefined;
}): StreamEvent {
  const event: ServerGapEvent = {
    type: "server.gap",
    properties: {
      session_id: gap.sessionId,
      epoch: gap.epoch,
      from_seq: gap.fromSeq,
      to_seq: gap.toSeq,
      reason: gap.reason,
      previous_epoch: gap.previousEpoch ?? null,
    },
  };
  return encoded(event);
}

function encoded(event: ServerConnectedEvent | ServerGapEvent | ServerHeartbeatEvent): StreamEvent {
  return { type: event.type, payloadJson: JSON.stringify(event) };
}

/** The error that ends streams when the runtime goes away. */
export function shuttingDown(): CrabcodeError {
  return new CrabcodeError("SHUTTING_DOWN", "the server is shutting down");
}
