import type {
  CellAnswer,
  CodeModeRuntime,
  CodeModeSession,
  ObservationTarget,
  SessionEvent,
} from "@trivium/code-mode-runtime";
import { sleep, TriviumError } from "@trivium/core";
import type { OperationRequest } from "./client-message.ts";
import {
  cellClosedMessage,
  initialResponseMessage,
  type OperationResult,
  responseMessage,
} from "./host-message.ts";
import { LiveCell } from "./live-cell.ts";
import { fittingReply, toErrorResult } from "./reply.ts";
import { toRuntimeResponse, toWaitOutcome } from "./runtime-response.ts";
import { SessionCalls } from "./session-calls.ts";
import type { SessionPeer } from "./session-peer.ts";

type Request<Method extends OperationRequest["method"]> = Extract<
  OperationRequest,
  { readonly method: Method }
>;

/** A shutdown right behind an execute leaves its program this time, for what it does in its first turn. */
const FIRST_TURN_MS = 25;

/** How long the end of a program waits for the answers to its notifications. */
const NOTIFICATION_ANSWER_MS = 30_000;

/**
 * One session of a connection, under the name its client gave it.
 *
 * The runtime tells what happens within the call in which it happens, and answers by promises. What is said about a cell
 * keeps one order: `started`, its calls, answers, calls taken back, `cell/closed`.
 */
export class V1Session {
  readonly sessionId: string;
  readonly #peer: SessionPeer;
  readonly #session: CodeModeSession;
  readonly #calls: SessionCalls;
  readonly #cells = new Map<string, LiveCell>();
  /** Observers by request id. Their names in the runtime are never used twice, as request ids may be in time. */
  readonly #observers = new Map<bigint, ObservationTarget>();
  #lastObserver = 0;
  #onEmpty: () => void = () => {};

  /** @throws {@link TriviumError} `unavailable` when the runtime is shutting down. */
  constructor(request: Request<"session/open">, runtime: CodeModeRuntime, peer: SessionPeer) {
    this.sessionId = request.sessionId;
    this.#peer = peer;
    this.#session = runtime.openSession({
      outputMode: request.outputMode,
      maxYieldTimeMs: request.maxYieldTimeMs,
      maxHeapSizeBytes: request.maxHeapSizeBytes,
      maxPendingCalls: peer.delegates.capacity,
      notificationAnswerMs: NOTIFICATION_ANSWER_MS,
      heartbeatIntervalMs: 0,
    });
    this.#calls = new SessionCalls(this.sessionId, this.#session, { peer, limits: runtime.limits });
    const onEnd = (): void => this.#onEmpty();
    this.#session.events.listen((event) => this.#happened(event), onEnd);
    this.#session
      .subscribe({ tools: [], heartbeatIntervalMs: 0 })
      .listen((event) => this.#calls.toolCalled(event), onEnd);
  }

  /** Admits a program and answers twice: at once, and with its first outcome. Resolves then. */
  async execute(id: bigint, { body }: Request<"session/execute">): Promise<void> {
    const { maxOutputTokens = 0 } = body;
    if (maxOutputTokens < 0) {
      throw new TriviumError(
        "invalidInput",
        `max_output_tokens is ${maxOutputTokens}; it must be at least 0`,
      );
    }
    const executionId = this.#newName();
    const { cellId, outcome } = this.#session.execute({
      executionId,
      callId: body.toolCallId,
      source: body.source,
      tools: body.tools,
      catalogRevision: body.catalogRevision,
      yieldTimeMs: body.yieldTimeMs,
      maxOutputTokens: body.maxOutputTokens,
    });
    const cell = this.#open(cellId);
    using _ = cell.expectAnswer();
    using _observer = this.#observe(id, { type: "execution", executionId });
    this.#peer.sendControl(
      responseMessage(id, { status: "ok", value: { type: "execution/started", cellId } }),
    );
    const result = await this.#observed(cell, outcome, toRuntimeResponse);
    this.#peer.sendControl(fittingReply(initialResponseMessage, id, result));
  }

  async wait(id: bigint, request: Request<"session/wait">): Promise<void> {
    const { cellId, yieldTimeMs, maxOutputTokens } = request;
    const cell = this.#cells.get(cellId);
    using _ = cell?.expectAnswer();
    const waitId = this.#newName();
    using _observer = this.#observe(id, { type: "wait", waitId });
    const answer = this.#session.wait({ cellId, waitId, yieldTimeMs, maxOutputTokens });
    const result = await this.#observed(cell, answer, completed);
    this.#peer.sendControl(fittingReply(responseMessage, id, result));
  }

  async terminate(id: bigint, { cellId, maxOutputTokens }: Request<"session/terminate">): Promise<void> {
    using _ = this.#cells.get(cellId)?.expectTermination();
    const answer = this.#session.terminate(cellId, { maxOutputTokens });
    const result = await answer.then(ok(completed), (thrown: unknown) => this.#failed(thrown));
    this.#peer.sendControl(fittingReply(responseMessage, id, result));
  }

  /** Ends a wait with an error; the cell is left alone. Requests that do not wait go on. */
  cancelWait(id: bigint): void {
    const observer = this.#observers.get(id);
    if (observer?.type === "wait") this.#session.cancelWait(observer.waitId);
  }

  /** Ends the observation of an execute or a wait with what there is. */
  yieldObservation(id: bigint): void {
    const observer = this.#observers.get(id);
    if (observer !== undefined) this.#session.yieldObservation(observer);
  }

  /** Terminates every cell, and resolves when everything about them has been said and the session is gone. */
  async shutDown(): Promise<void> {
    const empty = new Promise<void>((resolve) => {
      this.#onEmpty = resolve;
    });
    const newest = Math.max(...[...this.#cells.values()].map(({ openedMs }) => openedMs));
    const { clock } = this.#session;
    const graceMs = newest + FIRST_TURN_MS - clock.monotonic();
    if (graceMs > 0) await sleep(clock, graceMs);
    for (const cellId of this.#cells.keys()) {
      // The answer is for observers. Refused: somebody else is at it.
      this.#session.terminate(cellId, {}).catch(() => {});
    }
    if (this.#cells.size > 0) await empty;
    await this.#session.close();
  }

  /** The client is gone: ends everything without a word. */
  close(): Promise<void> {
    return this.#session.close();
  }

  #newName(): string {
    return String(++this.#lastObserver);
  }

  #observe(id: bigint, observer: ObservationTarget): Disposable {
    this.#observers.set(id, observer);
    return { [Symbol.dispose]: () => void this.#observers.delete(id) };
  }

  #open(cellId: string): LiveCell {
    const cell = new LiveCell(this.#session.clock.monotonic(), () => {
      this.#cells.delete(cellId);
      this.#peer.sendControl(cellClosedMessage(this.sessionId, cellId));
      if (this.#cells.size === 0) this.#onEmpty();
    });
    this.#cells.set(cellId, cell);
    return cell;
  }

  #happened(event: SessionEvent): void {
    switch (event.type) {
      case "notified":
        this.#calls.notified(event);
        break;
      case "tool-call-cancelled":
        this.#calls.cancelled(event.invocationId);
        break;
      case "notification-cancelled":
        this.#calls.cancelled(event.notificationId);
        break;
      case "cell-closed":
        this.#cells.get(event.cellId)?.close();
        break;
      case "heartbeat":
        break;
    }
  }

  /** What an observer is answered. A termination is answered before the observer it meets. */
  async #observed<Answer>(
    cell: LiveCell | undefined,
    answer: Promise<Answer | undefined>,
    toValue: (answer: Answer) => object,
  ): Promise<OperationResult> {
    const result = await answer.then(
      (given) => (given === undefined ? this.#failed(sessionEnded()) : ok(toValue)(given)),
      (thrown: unknown) => this.#failed(thrown),
    );
    await cell?.termination;
    return result;
  }

  #failed(thrown: unknown): OperationResult {
    return toErrorResult(thrown, this.#peer.logger);
  }
}

function ok<Answer>(toValue: (answer: Answer) => object): (answer: Answer) => OperationResult {
  return (answer) => ({ status: "ok", value: toValue(answer) });
}

function completed(answer: CellAnswer): object {
  return { type: "wait/completed", outcome: toWaitOutcome(answer) };
}

function sessionEnded(): TriviumError {
  return new TriviumError("cancelled", "the session ended before the first outcome");
}
