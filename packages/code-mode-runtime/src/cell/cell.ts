import { type Clock, TriviumError } from "@trivium/core";
import type { CellEnd, CellListener, CellOutput, CellTool, RunningCell } from "../engine/cell-engine.ts";
import type { OutputBuffer, TakenOutput } from "../output/output-buffer.ts";
import { STORED_VALUES_FULL_TEXT, type StoredWrites } from "../stored-values.ts";
import { outcomeBytes } from "../wire-size.ts";
import { Observation, type ObservationRequest } from "./observation.ts";
import type { OpenNotifications } from "./open-notifications.ts";
import type { CellOutcome, CellResult } from "./outcome.ts";

/** A tool call as the program made it. */
export interface ToolCallRequest {
  readonly toolCallId: string;
  readonly tool: CellTool;
  readonly inputJson: string | undefined;
}

/** What a cell needs of its session. */
export interface CellHost {
  readonly clock: Clock;
  notified(cell: Cell, text: string): void;
  toolCalled(cell: Cell, call: ToolCallRequest): void;
  /** The program is over: open tool calls are cancelled. */
  ended(cell: Cell): void;
  /** Its terminal outcome was claimed, or nobody will claim it: it is unknown from now on. */
  closed(cell: Cell): void;
}

/** What identifies a cell and how its first observation goes. */
export interface CellOptions {
  readonly cellId: string;
  readonly executionId: string;
  readonly callId: string;
  /** Wait of the first observation, counted from the moment the program is ready to run. */
  readonly yieldMs: number;
  readonly observation: ObservationRequest;
  readonly output: OutputBuffer;
  /** Become the session's when the program completes. */
  readonly writes: StoredWrites;
  /** Bytes that an encoded outcome may have. */
  readonly maxMessageBytes: number;
  /** Set: the program's end waits for the answers. */
  readonly notifications?: OpenNotifications | undefined;
}

/**
 * The life of one program, seen by its observers.
 *
 * running → completed (result buffered) → closed, or running → terminating → closed. There is at most one
 * observation; a Terminate is answered beside it, with the same items.
 */
export class Cell implements CellListener {
  readonly cellId: string;
  readonly executionId: string;
  /** The label that the client gave its Execute; notifications carry it. */
  readonly callId: string;
  /** The first observation. */
  readonly initial: Observation;
  /** Those whose answers its end waits for; undefined when nothing waits. */
  readonly notifications: OpenNotifications | undefined;
  /** Tool calls handed to a subscription so far. */
  dispatchedCalls = 0;
  readonly #host: CellHost;
  readonly #options: CellOptions;
  readonly #output: OutputBuffer;
  readonly #writes: StoredWrites;
  readonly #gone = Promise.withResolvers<void>();
  #running: RunningCell | undefined;
  #state: "running" | "terminating" | "completed" | "closed" = "running";
  #hasEnded = false;
  #observation: Observation | undefined;
  #termination: Observation | undefined;
  #errorText: string | undefined;
  #completedMs = 0;

  constructor(host: CellHost, options: CellOptions) {
    this.#host = host;
    this.#options = options;
    this.#output = options.output;
    this.#writes = options.writes;
    this.cellId = options.cellId;
    this.executionId = options.executionId;
    this.callId = options.callId;
    this.notifications = options.notifications;
    this.initial = new Observation(host.clock, options.observation);
    this.#observation = this.initial;
  }

  /** The engine has taken the program. */
  attach(running: RunningCell): void {
    this.#running = running;
  }

  /** True while a Wait or Terminate may name it. */
  get isObservable(): boolean {
    return this.#state === "running" || this.#state === "completed";
  }

  get isTerminating(): boolean {
    return this.#state === "terminating";
  }

  /** Settled when the engine has nothing left of it. */
  get gone(): Promise<void> {
    return this.#gone.promise;
  }

  /**
   * Installs an observer, or answers it with a buffered result.
   *
   * @throws {@link TriviumError} `failedPrecondition` while another one is active.
   */
  observe(request: ObservationRequest, yieldMs: number): Observation {
    if (this.#observation !== undefined) {
      throw new TriviumError("failedPrecondition", `exec cell ${this.cellId} already has an active observer`);
    }
    const observation = new Observation(this.#host.clock, request);
    if (this.#state === "completed") {
      this.#claim([observation], { type: "completed", errorText: this.#errorText });
      return observation;
    }
    this.#observation = observation;
    this.#arm(observation, yieldMs);
    return observation;
  }

  /** Ends `observation` early with what there is, if it is the active one. */
  yieldObservation(observation: Observation): void {
    if (this.#observation !== observation || this.#state !== "running") return;
    this.#observation = undefined;
    observation.settle(() => this.#outcome(observation, { type: "yielded" }, this.#output.take(undefined)));
  }

  /** Takes `observation` away with `error`; what it would have delivered stays for the next one. */
  retire(observation: Observation, error: Error): void {
    if (this.#observation !== observation) return;
    this.#observation = undefined;
    observation.fail(error);
  }

  /**
   * Ends the program by force, or claims its buffered result.
   *
   * @throws {@link TriviumError} `failedPrecondition` when a termination is in progress.
   */
  terminate(request: ObservationRequest): Observation {
    if (this.#state === "terminating") {
      throw new TriviumError("failedPrecondition", `exec cell ${this.cellId} is already terminating`);
    }
    const observation = new Observation(this.#host.clock, request);
    if (this.#state === "completed") {
      this.#claim([observation], { type: "completed", errorText: this.#errorText });
      return observation;
    }
    this.#termination = observation;
    this.#kill();
    return observation;
  }

  /** The client will never see the first outcome: the cell ends without an answer to anybody waiting for it. */
  abandon(): void {
    this.retire(this.initial, new TriviumError("cancelled", "the execution was abandoned"));
    if (this.#state === "running") this.#kill();
    else if (this.#state === "completed") this.#close();
  }

  /** The session is gone: observers learn `failure`, or undefined without one; the program is ended by force. */
  discard(failure: Error | undefined): Promise<void> {
    this.#state = "closed";
    this.notifications?.revoke();
    for (const observation of this.#takeObservers()) {
      if (failure === undefined) observation.settle(() => undefined);
      else observation.fail(failure);
    }
    if (!this.#hasEnded) this.#running?.terminate();
    return this.gone;
  }

  resolveTool(toolCallId: string, outputJson: string | Uint8Array): void {
    if (!this.#hasEnded) this.#running?.resolveTool(toolCallId, outputJson);
  }

  rejectTool(toolCallId: string, message: string): void {
    if (!this.#hasEnded) this.#running?.rejectTool(toolCallId, message);
  }

  ready(): void {
    if (this.#observation === this.initial) this.#arm(this.initial, this.#options.yieldMs);
  }

  output(item: CellOutput): void {
    this.#yieldIfDue();
    if (this.#state !== "closed") this.#output.add(item);
  }

  yieldRequested(): void {
    if (this.#observation !== undefined) this.yieldObservation(this.#observation);
  }

  stored(key: string, json: string): void {
    this.#writes.set(key, json);
  }

  notified(text: string): void {
    if (this.#state !== "closed") this.#host.notified(this, text);
  }

  toolCalled(call: ToolCallRequest): void {
    if (this.#state !== "closed") this.#host.toolCalled(this, call);
  }

  ended(end: CellEnd): void {
    this.#yieldIfDue();
    this.#hasEnded = true;
    this.#gone.resolve();
    if (this.#state === "closed" || end.type !== "completed") this.#writes.discard();
    if (this.#state === "closed") return;
    const isKept = end.type !== "completed" || this.#writes.commit();
    this.#host.ended(this);
    // A worker that is lost while it is being terminated has done what was asked.
    const isTerminated = end.type === "terminated" || (end.type === "lost" && this.#state === "terminating");
    const result: CellResult = isTerminated
      ? { type: "terminated" }
      : { type: "completed", errorText: end.errorText ?? (isKept ? undefined : STORED_VALUES_FULL_TEXT) };
    if (this.notifications === undefined || isTerminated) this.#finish(result);
    // Until then the cell looks as if it ran: its observers may come, yield and terminate it.
    else this.notifications.hold(() => this.#finish(result));
  }

  #finish(result: CellResult): void {
    this.notifications?.revoke();
    const observers = this.#takeObservers();
    this.#completedMs = this.#host.clock.monotonic();
    if (observers.length > 0) this.#claim(observers, result);
    else if (result.type === "terminated" || this.#state === "terminating") this.#close();
    else {
      this.#errorText = result.type === "completed" ? result.errorText : undefined;
      this.#state = "completed";
    }
  }

  #kill(): void {
    this.#state = "terminating";
    if (this.notifications?.isHolding === true) this.#finish({ type: "terminated" });
    else this.#running?.terminate();
  }

  #arm(observation: Observation, yieldMs: number): void {
    if (yieldMs <= 0) this.yieldObservation(observation);
    else observation.arm(yieldMs, () => this.yieldObservation(observation));
  }

  /** A deadline that has passed wins over what the program did after it. */
  #yieldIfDue(): void {
    if (this.#observation?.isDue === true) this.yieldObservation(this.#observation);
  }

  #takeObservers(): Observation[] {
    const observers = [this.#observation, this.#termination].filter((one) => one !== undefined);
    this.#observation = undefined;
    this.#termination = undefined;
    return observers;
  }

  #claim(observers: readonly Observation[], result: CellResult): void {
    const taken = this.#output.take(result.type === "completed" ? result.errorText : undefined);
    for (const observation of observers) {
      observation.settle(() => this.#outcome(observation, result, taken));
    }
    this.#close();
  }

  #close(): void {
    this.#state = "closed";
    this.#host.closed(this);
  }

  #outcome(observation: Observation, result: CellResult, taken: TakenOutput): CellOutcome {
    const items = this.#output.fit(taken.items, observation.maxOutputTokens);
    const errorText = result.type === "completed" ? result.errorText : undefined;
    const { maxMessageBytes } = this.#options;
    if (taken.isOverfull || outcomeBytes(this.cellId, items, errorText) > maxMessageBytes) {
      throw new TriviumError(
        "outOfRange",
        `the output of exec cell ${this.cellId} does not fit in a message of ${maxMessageBytes} bytes and is lost`,
      );
    }
    return {
      cellId: this.cellId,
      items,
      result,
      hostDurationMs: this.#host.clock.monotonic() - observation.startedMs,
      ...(result.type === "completed" && {
        bufferedForMs: Math.max(0, observation.startedMs - this.#completedMs),
      }),
    };
  }
}
