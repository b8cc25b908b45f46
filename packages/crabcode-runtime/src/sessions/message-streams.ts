import type { Clock } from "@trivium/core";
import { CrabcodeError } from "../crabcode-error.ts";
import type { MessageStream, SendMessageInput, StreamEvent } from "../crabcode-runtime.ts";
import type { EventStream } from "../events/event-stream.ts";
import type { SessionEventBus } from "../events/session-event-bus.ts";
import type { OperationRecord } from "../store/operation-store.ts";
import { lostTurn } from "./lost-turn.ts";
import { type MessageStreamRange, openMessageStream } from "./message-stream.ts";
import type { Operation } from "./operation.ts";

/** What of a session its message streams are made of. */
export interface MessageStreamsDeps {
  readonly sessionId: string;
  readonly bus: SessionEventBus;
  readonly clock: Clock;
  readonly heartbeat: () => StreamEvent;
  /** The turn that a run of an agent belongs to. */
  readonly rootOf: (operationId: string) => string | undefined;
}

/** A call that names an earlier one through its key. */
export interface JoiningCall {
  readonly requestHash: string;
  readonly input: SendMessageInput;
  /** The earlier one, while it waits or runs. */
  readonly operation: Operation | undefined;
}

/** The streams of the messages of one session, for those who send and those who join. */
export class MessageStreams {
  readonly #deps: MessageStreamsDeps;

  constructor(deps: MessageStreamsDeps) {
    this.#deps = deps;
  }

  /** The stream of a message that is new. `start` puts it into the queue and tells whether it waits there. */
  begin(operation: Operation, input: SendMessageInput, start: () => "started" | "waiting"): MessageStream {
    const { bus, heartbeat } = this.#deps;
    const { operationId } = operation;
    const { signal, isDetached = false } = input;
    const stream = this.#open({ operationId, operation, signal, afterSeq: bus.seq, untilSeq: undefined });
    operation.attach(stream, { isDetached });
    if (start() === "waiting") stream.put(heartbeat());
    return this.#messageStream(operationId, { stream, isReplay: false });
  }

  /** @throws CrabcodeError IDEMPOTENCY_MISMATCH when the key belongs to another request */
  join(known: OperationRecord, { requestHash, input, operation }: JoiningCall): MessageStream {
    const { bus, heartbeat } = this.#deps;
    if (known.requestHash !== requestHash) {
      const message = "the idempotency key belongs to another request";
      throw new CrabcodeError("IDEMPOTENCY_MISMATCH", message, this.#deps);
    }
    const afterSeq = operation === undefined ? known.afterSeq : operation.afterSeq;
    const isKept = operation !== undefined || known.epoch === bus.epoch;
    const stream = this.#open({
      operationId: known.operationId,
      operation,
      signal: input.signal,
      afterSeq: isKept ? (afterSeq ?? bus.seq) : bus.seq,
      // What came after its turn is no part of it, not even what is missing there.
      untilSeq: operation === undefined ? (known.completeSeq ?? bus.seq) : undefined,
    });
    if (operation !== undefined) {
      operation.attach(stream, { isDetached: input.isDetached === true });
      if (operation.afterSeq === undefined) stream.put(heartbeat());
    } else {
      if (!isKept) stream.put(...lostTurn(bus, known));
      stream.finish();
    }
    return this.#messageStream(known.operationId, { stream, isReplay: true });
  }

  #open(range: MessageStreamRange): EventStream {
    return openMessageStream(this.#deps, range);
  }

  #messageStream(
    operationId: string,
    { stream, isReplay }: { readonly stream: EventStream; readonly isReplay: boolean },
  ): MessageStream {
    return { sessionId: this.#deps.sessionId, operationId, isReplay, events: stream };
  }
}
