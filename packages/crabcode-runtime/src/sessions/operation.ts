import { type Clock, type ErrorKind, TriviumError } from "@trivium/core";
import { CrabcodeError } from "../crabcode-error.ts";
import type { EventStream, StreamEnd } from "../events/event-stream.ts";
import type { OperationRecord } from "../store/operation-store.ts";
import type { ResumedRun } from "../turn/loop-deps.ts";

/** A stream that is not read to its end is cut this long after its turn. */
const STALLED_READER_MS = 120_000;

/** What makes an operation. */
export interface OperationOptions {
  readonly operationId: string;
  readonly text: string;
  readonly maxTurns: number;
  readonly isInteractive: boolean;
  readonly idempotencyKey: string | undefined;
  /** Set for a turn that goes on after a restart. */
  readonly resumed?: ResumedRun | undefined;
  /** `callback`: hands over results of agents; nobody's call. Default `message`. */
  readonly kind?: OperationRecord["kind"];
  readonly rejoinGraceMs: number;
  readonly clock: Clock;
  /** Called when nobody is interested any more. */
  readonly onAbandoned: (operation: Operation) => void;
}

/** One message on its way through the queue and its turn, with the calls that watch it. */
export class Operation {
  readonly operationId: string;
  readonly text: string;
  readonly maxTurns: number;
  readonly isInteractive: boolean;
  readonly idempotencyKey: string | undefined;
  readonly resumed: ResumedRun | undefined;
  readonly kind: OperationRecord["kind"];
  /** UUID of the message that hands results over; of a callback that has begun. */
  notificationId: string | undefined;
  /** Last event before the first of the turn; undefined while it waits. */
  afterSeq: number | undefined;
  readonly #abort = new AbortController();
  readonly #options: OperationOptions;
  readonly #streams = new Map<EventStream, Disposable | undefined>();
  #graceTimer: Disposable | undefined;
  #isDetached = false;
  #hasEnded = false;
  readonly #ended = Promise.withResolvers<void>();

  constructor(options: OperationOptions) {
    this.#options = options;
    this.operationId = options.operationId;
    this.text = options.text;
    this.maxTurns = options.maxTurns;
    this.isInteractive = options.isInteractive;
    this.idempotencyKey = options.idempotencyKey;
    this.resumed = options.resumed;
    this.kind = options.kind ?? "message";
  }

  /** Aborts when the turn is to be interrupted. */
  get signal(): AbortSignal {
    return this.#abort.signal;
  }

  /** Resolves when the turn is over and its streams are ending. */
  get ended(): Promise<void> {
    return this.#ended.promise;
  }

  /** What is stored when the message is admitted. */
  get admission(): Pick<
    Operation,
    "operationId" | "kind" | "text" | "maxTurns" | "isInteractive" | "idempotencyKey"
  > {
    const { operationId, kind, text, maxTurns, isInteractive, idempotencyKey } = this;
    return { operationId, kind, text, maxTurns, isInteractive, idempotencyKey };
  }

  /** Nothing interrupts the turn any more: its last event is being published, or was. */
  get hasEnded(): boolean {
    return this.#hasEnded;
  }

  interrupt(): void {
    this.#abort.abort(new DOMException("the turn was interrupted", "AbortError"));
  }

  attach(stream: EventStream, { isDetached }: { isDetached: boolean }): void {
    this.#isDetached ||= isDetached;
    this.#graceTimer?.[Symbol.dispose]();
    this.#graceTimer = undefined;
    this.#streams.set(stream, undefined);
  }

  /** A call is over. The last one to leave decides what becomes of the turn. */
  detach(stream: EventStream, call: { how: StreamEnd; signal: AbortSignal | undefined }): void {
    this.#streams.get(stream)?.[Symbol.dispose]();
    this.#streams.delete(stream);
    const kind = abortKind(call.signal);
    // A slow reader is cut off, its turn is not.
    this.#isDetached ||= kind === "resourceExhausted";
    if (this.#hasEnded || this.#isDetached || this.#streams.size > 0) return;
    const { idempotencyKey, rejoinGraceMs, clock, onAbandoned } = this.#options;
    const isLost = call.how === "failed" || kind === "unavailable";
    if (idempotencyKey === undefined || !isLost) onAbandoned(this);
    else this.#graceTimer = clock.setTimer(rejoinGraceMs, () => onAbandoned(this));
  }

  /** The turn is over: from here on nothing interrupts it. */
  end(): void {
    this.#hasEnded = true;
    this.#graceTimer?.[Symbol.dispose]();
    this.#graceTimer = undefined;
  }

  /** Ends the streams once they were read; one that is not read is cut. */
  finishStreams(failure?: Error): void {
    this.end();
    for (const stream of this.#streams.keys()) {
      const timer = this.#options.clock.setTimer(STALLED_READER_MS, () =>
        stream.cut(
          new CrabcodeError(
            "READER_STALLED",
            "the stream was not read to its end within 120 s after its turn",
          ),
        ),
      );
      this.#streams.set(stream, timer);
      stream.finish(failure);
    }
    this.#ended.resolve();
  }
}

/** Why a call was ended from outside: a lost connection or a stalled reader has a kind, a cancel has none. */
function abortKind(signal: AbortSignal | undefined): ErrorKind | undefined {
  const reason: unknown = signal?.aborted === true ? signal.reason : undefined;
  return TriviumError.isInstance(reason) ? reason.kind : undefined;
}
