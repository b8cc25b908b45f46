import type { ServerGapEvent } from "@trivium/proto/crabcode-events";
import type { StreamEvent } from "../crabcode-runtime.ts";
import { mergeText } from "./merge-text.ts";
import type { EventListener, PublishedEvent, SessionEventBus } from "./session-event-bus.ts";

/** Events one stream may hold in memory before it reads from the log instead. */
export const MAX_QUEUED_EVENTS = 1024;
/** UTF-8 bytes, approximated by UTF-16 units, that one stream may hold. */
export const MAX_QUEUED_BYTES: number = 4 * 1024 * 1024;
const PAGE = 256;

/** Where a feed starts and what it carries. */
export interface SessionFeedOptions {
  /** Events after this one are given. */
  readonly afterSeq: number;
  /** Nothing after this one is given, and no gap. Absent: no end. */
  readonly untilSeq?: number | undefined;
  /** Which events belong to the stream. Absent: all. */
  readonly accepts?: (event: PublishedEvent) => boolean;
  /** Called when there may be something to take. */
  readonly onReady: () => void;
}

interface Queued {
  readonly seq: number;
  readonly event: StreamEvent;
}

/**
 * The events of one session for one stream: from memory while the reader keeps up, from the log while it does
 * not. Nothing is lost and nothing is given twice; a part of the log that was pruned is said by `server.gap`.
 */
export class SessionFeed implements EventListener, Disposable {
  readonly sessionId: string;
  readonly #bus: SessionEventBus;
  readonly #accepts: (event: PublishedEvent) => boolean;
  readonly #onReady: () => void;
  readonly #registration: Disposable;
  #queue: Queued[] = [];
  #queuedBytes = 0;
  #isLive: boolean;
  /** Only a reader that fell behind gets texts merged; a replay is what it was. */
  #mayMerge = false;
  #hasEnded = false;
  readonly #untilSeq: number;
  /** Last event that was taken by the reader. */
  #takenSeq: number;
  /** Last event that is in the queue or was before it. */
  #readSeq: number;

  constructor(bus: SessionEventBus, options: SessionFeedOptions) {
    const { afterSeq, untilSeq = Infinity, accepts = () => true, onReady } = options;
    this.sessionId = bus.sessionId;
    this.#bus = bus;
    this.#accepts = accepts;
    this.#onReady = onReady;
    this.#takenSeq = afterSeq;
    this.#readSeq = afterSeq;
    this.#untilSeq = untilSeq;
    this.#isLive = afterSeq >= Math.min(bus.seq, untilSeq);
    this.#registration = bus.listen(this);
  }

  /** True when {@link SessionFeed.read} has to be called before anything more can be taken. */
  get mustRead(): boolean {
    return !this.#isLive && this.#queue.length === 0;
  }

  /** True when the session or the range has ended and everything was taken. */
  get isFinished(): boolean {
    const isOver = this.#hasEnded || this.#readSeq >= this.#untilSeq;
    return isOver && this.#queue.length === 0 && this.#isLive;
  }

  take(): StreamEvent | undefined {
    const first = this.#queue.shift();
    if (first === undefined) return undefined;
    this.#takenSeq = first.seq;
    this.#queuedBytes -= first.event.payloadJson.length;
    return first.event;
  }

  /** Fills the queue from the log; live again when there is nothing left in it. */
  async read(): Promise<void> {
    const writtenSeq = Math.min(this.#bus.seq, this.#untilSeq);
    const found = await this.#bus.readFrom(this.#readSeq, PAGE);
    const page = found.filter(({ seq }) => seq <= this.#untilSeq);
    if (page.length === 0) {
      if (this.#readSeq < writtenSeq) this.#skipTo(writtenSeq + 1);
      // What was written meanwhile is found by the next call.
      this.#isLive = this.#readSeq >= Math.min(this.#bus.seq, this.#untilSeq);
      if (this.#isLive) this.#mayMerge = false;
      return;
    }
    const events = this.#withGaps(page);
    for (const event of this.#mayMerge ? mergeText(events) : events) this.#enqueue(event);
  }

  deliver(event: PublishedEvent): void {
    // The log may show an event a moment before the bus hands it out.
    if (!this.#isLive || event.seq <= this.#readSeq || event.seq > this.#untilSeq) return;
    this.#readSeq = event.seq;
    if (!this.#accepts(event)) return;
    const isFull =
      this.#queue.length >= MAX_QUEUED_EVENTS || this.#queuedBytes + event.data.length > MAX_QUEUED_BYTES;
    if (isFull) this.#fallBehind();
    else this.#enqueue(event);
    this.#onReady();
  }

  end(): void {
    this.#hasEnded = true;
    this.#onReady();
  }

  [Symbol.dispose](): void {
    this.#registration[Symbol.dispose]();
    this.#queue = [];
  }

  #fallBehind(): void {
    this.#queue = [];
    this.#queuedBytes = 0;
    this.#isLive = false;
    this.#mayMerge = true;
    this.#readSeq = this.#takenSeq;
  }

  #enqueue({ seq, type, data }: Pick<PublishedEvent, "seq" | "type" | "data">): void {
    this.#queue.push({ seq, event: { type, payloadJson: data } });
    this.#queuedBytes += data.length;
  }

  *#withGaps(page: readonly PublishedEvent[]): Iterable<PublishedEvent> {
    for (const event of page) {
      if (event.seq > this.#readSeq + 1) {
        yield { ...this.#gapBefore(event.seq), operationId: undefined };
      }
      this.#readSeq = event.seq;
      if (this.#accepts(event)) yield event;
    }
  }

  #skipTo(nextSeq: number): void {
    this.#enqueue(this.#gapBefore(nextSeq));
    this.#readSeq = nextSeq - 1;
  }

  #gapBefore(nextSeq: number): Pick<PublishedEvent, "seq" | "type" | "data"> {
    const gap: ServerGapEvent = {
      type: "server.gap",
      properties: {
        session_id: this.sessionId,
        epoch: this.#bus.epoch,
        from_seq: this.#readSeq + 1,
        to_seq: nextSeq - 1,
        reason: "retention",
        previous_epoch: null,
      },
    };
    return { seq: nextSeq - 1, type: gap.type, data: JSON.stringify(gap) };
  }
}
