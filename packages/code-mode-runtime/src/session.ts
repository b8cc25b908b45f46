import { abortReason, type Clock, type IdSource, type Logger, TriviumError } from "@trivium/core";
import { Catalogue } from "./catalogue.ts";
import { Cell, type CellHost, type ToolCallRequest } from "./cell/cell.ts";
import type { ObservationRequest } from "./cell/observation.ts";
import { OpenNotifications } from "./cell/open-notifications.ts";
import type { CellAnswer, CellOutcome } from "./cell/outcome.ts";
import { DEFAULT_EXECUTE_YIELD_MS, effectiveYieldMs } from "./cell/yield-time.ts";
import type { CellEngine } from "./engine/cell-engine.ts";
import { EventChannel } from "./event-channel.ts";
import type { CodeModeLimits } from "./limits.ts";
import type { OutputBuffer } from "./output/output-buffer.ts";
import { OversizedOutput } from "./output/oversized-output.ts";
import { RetainedOutput, scriptErrorText } from "./output/retained-output.ts";
import { UnboundedOutput } from "./output/unbounded-output.ts";
import { RecentIds } from "./recent-ids.ts";
import { ServerCalls } from "./server-tools/server-calls.ts";
import { withServerTools } from "./server-tools/with-server-tools.ts";
import type {
  ExecuteOptions,
  Execution,
  ObservationTarget,
  SessionEvent,
  SessionOptions,
  WaitOptions,
} from "./session-types.ts";
import { StoredValues } from "./stored-values.ts";
import type { Subscription, SubscriptionOptions } from "./tool-calls/subscription.ts";
import type { SubscriptionEvent, ToolCallResult } from "./tool-calls/tool-call.ts";
import { ToolCallRouter } from "./tool-calls/tool-call-router.ts";
import { Waits } from "./waits.ts";
import { fieldBytes, textFieldBytes } from "./wire-size.ts";

/** What a session gets from its runtime. */
export interface SessionDeps {
  readonly engine: CellEngine;
  readonly clock: Clock;
  readonly ids: IdSource;
  readonly logger: Logger;
  readonly limits: CodeModeLimits;
  readonly keepOversizedOutput: boolean;
  /** Makes room for a cell, or throws `resourceExhausted`. */
  readonly admitCell: () => void;
  readonly releaseCell: () => void;
  readonly notificationDropped: () => void;
  /** The session takes no more requests; `gone` settles when its cells have ended. */
  readonly onClosed: (session: CodeModeSession, gone: Promise<void>) => void;
}

/** One client's lease, with its cells, waits, subscriptions and stored values. */
export class CodeModeSession implements CellHost {
  readonly sessionId: string;
  readonly options: SessionOptions;
  readonly clock: Clock;
  /**
   * What happens in the session. Leaving the iteration closes the session: the stream is its lease.
   */
  readonly events: EventChannel<SessionEvent>;
  readonly #deps: SessionDeps;
  readonly #router: ToolCallRouter;
  readonly #serverCalls: ServerCalls | undefined;
  readonly #waits: Waits;
  readonly #executionIds: RecentIds;
  readonly #yieldedEarly: RecentIds;
  readonly #catalogue = new Catalogue();
  readonly #cells = new Map<string, Cell>();
  readonly #executions = new Map<string, Cell>();
  /** Where answers to notifications are waited for: whose they are. */
  readonly #openNotifications = new Map<string, OpenNotifications>();
  readonly #stored = new StoredValues();
  #lastCellNumber = 0;
  #closing: Promise<void> | undefined;

  constructor(deps: SessionDeps, options: SessionOptions) {
    this.#deps = deps;
    this.options = options;
    this.clock = deps.clock;
    this.sessionId = deps.ids.uuid();
    const { limits, clock, ids } = deps;
    this.#waits = new Waits(limits.rememberedIds);
    this.#executionIds = new RecentIds(limits.rememberedIds);
    this.#yieldedEarly = new RecentIds(limits.rememberedIds);
    this.events = new EventChannel<SessionEvent>({
      clock,
      heartbeatIntervalMs: options.heartbeatIntervalMs,
      heartbeat: { type: "heartbeat" },
      weigh: eventBytes,
      onLeft: () => void this.close(),
    });
    const { serverTools } = options;
    this.#serverCalls =
      serverTools && new ServerCalls({ sessionId: this.sessionId, tools: serverTools, limits });
    this.#router = new ToolCallRouter({
      serverCalls: this.#serverCalls,
      clock,
      ids,
      limits,
      maxPendingCalls: Math.min(
        options.maxPendingCalls ?? limits.defaultPendingCalls,
        limits.maxPendingCalls,
      ),
      onCancelled: (invocationId) => this.#send({ type: "tool-call-cancelled", invocationId }),
      onAbandoned: () => void this.close(),
    });
  }

  /**
   * Admits a program and starts it.
   *
   * @throws {@link TriviumError} `alreadyExists` for a used execution id, `failedPrecondition` for a catalogue
   * revision that does not fit (the id is spent), `resourceExhausted` past the limit of cells (nothing is spent).
   */
  execute(options: ExecuteOptions): Execution {
    const { executionId } = options;
    if (this.#executionIds.has(executionId)) {
      throw new TriviumError("alreadyExists", `execution_id ${executionId} was already used in this session`);
    }
    this.#executionIds.add(executionId);
    const tools = this.#catalogue.resolve(options.catalogRevision, options.tools);
    const serverTools = this.options.serverTools?.definitions() ?? [];
    const cell = this.#start({ ...options, tools: withServerTools(tools, serverTools) });
    if (this.#yieldedEarly.delete(executionId)) cell.yieldObservation(cell.initial);
    return {
      executionId,
      cellId: cell.cellId,
      outcome: cell.initial.promise,
      abandon: () => cell.abandon(),
    };
  }

  /**
   * Looks at a cell until it completes, yields, or the time is over.
   *
   * @throws {@link TriviumError} `alreadyExists` for a used wait id, `cancelled` by {@link cancelWait} or the end of
   * the session, `failedPrecondition` while another observer is active; the reason of `signal` when it aborts.
   */
  async wait(options: WaitOptions): Promise<CellAnswer> {
    const { cellId, waitId, signal } = options;
    const isYielded = this.#waits.begin(waitId);
    const cell = this.#observable(cellId);
    if (cell === undefined) return this.#missing(cellId, options);
    const yieldMs = isYielded ? 0 : effectiveYieldMs(options.yieldTimeMs, this.options.maxYieldTimeMs);
    const observation = cell.observe(options, yieldMs);
    this.#waits.activate(waitId, { cell, observation });
    const onAbort = (): void => {
      if (signal !== undefined) cell.retire(observation, abortReason(signal));
    };
    if (signal?.aborted === true) onAbort();
    signal?.addEventListener("abort", onAbort, { once: true });
    try {
      return live(await observation.promise, "wait");
    } finally {
      signal?.removeEventListener("abort", onAbort);
      this.#waits.finish(waitId);
    }
  }

  /** Ends a Wait with `cancelled`, also one that has yet to come. Unknown and finished ids are fine. */
  cancelWait(waitId: string): void {
    this.#waits.cancel(waitId);
  }

  /** Ends an observation early with a yield, also one that has yet to come. Unknown and finished ids are fine. */
  yieldObservation(target: ObservationTarget): void {
    if (target.type === "wait") {
      this.#waits.yield(target.waitId);
      return;
    }
    const cell = this.#executions.get(target.executionId);
    if (cell !== undefined) cell.yieldObservation(cell.initial);
    else if (!this.#executionIds.has(target.executionId)) this.#yieldedEarly.add(target.executionId);
  }

  /**
   * Ends a cell by force, or takes its buffered result.
   *
   * @throws {@link TriviumError} `failedPrecondition` while a termination is in progress, `cancelled` when the
   * session ends first.
   */
  async terminate(cellId: string, request: ObservationRequest): Promise<CellAnswer> {
    const cell = this.#cells.get(cellId);
    if (cell === undefined) return this.#missing(cellId, request);
    return live(await cell.terminate(request).promise, "termination");
  }

  /** @throws {@link TriviumError} `resourceExhausted` past the limit of subscriptions. */
  subscribe(options: SubscriptionOptions): EventChannel<SubscriptionEvent> {
    const subscription: Subscription = this.#router.subscribe(options);
    return subscription.events;
  }

  /**
   * Settles a tool call; repeated and late results are ignored.
   *
   * @throws {@link TriviumError} `notFound` for an invocation this session does not know.
   */
  completeToolCall(invocationId: string, result: ToolCallResult): void {
    this.#router.complete(invocationId, result);
  }

  /** The client has answered a notification, or will never get it. Unknown, repeated and late answers are fine. */
  answerNotification(notificationId: string): void {
    const open = this.#openNotifications.get(notificationId);
    this.#openNotifications.delete(notificationId);
    open?.delete(notificationId);
  }

  /**
   * Ends the session: streams end (with `failure` if there is one), waits are cancelled, cells are terminated
   * without an event. Resolves when the cells are gone. Repeating it joins the first.
   */
  close(failure?: TriviumError): Promise<void> {
    if (this.#closing === undefined) {
      this.#closing = this.#close(failure);
      this.#deps.onClosed(this, this.#closing);
    }
    return this.#closing;
  }

  notified(cell: Cell, text: string): void {
    const { executionId, cellId, callId } = cell;
    const notificationId = this.#deps.ids.uuid();
    const event: SessionEvent = { type: "notified", notificationId, executionId, cellId, callId, text };
    const bytes = eventBytes(event);
    if (bytes > this.#deps.limits.maxMessageBytes) {
      this.#deps.notificationDropped();
      this.#deps.logger.warn(
        { sessionId: this.sessionId, cellId, bytes },
        "a notification is larger than a message may be and was dropped",
      );
      return;
    }
    const { notifications } = cell;
    if (notifications !== undefined) {
      notifications.add(notificationId);
      this.#openNotifications.set(notificationId, notifications);
    }
    this.#send(event);
  }

  toolCalled(cell: Cell, call: ToolCallRequest): void {
    this.#router.dispatch(cell, call);
  }

  ended(cell: Cell): void {
    this.#router.cancelCell(cell);
    this.#serverCalls?.cancelCell(cell);
  }

  closed(cell: Cell): void {
    this.#forget(cell);
    const { executionId, cellId, dispatchedCalls: finalToolCallSequence } = cell;
    const tell = (): void => this.#send({ type: "cell-closed", executionId, cellId, finalToolCallSequence });
    // Whoever hears of the end may rely on it that nothing of the cell runs.
    const gone = this.#serverCalls?.gone(cell);
    if (gone === undefined) tell();
    else void gone.then(tell);
  }

  #start(options: ExecuteOptions): Cell {
    const { executionId, callId, source, tools } = options;
    const { engine, limits } = this.#deps;
    const { maxYieldTimeMs, maxHeapSizeBytes } = this.options;
    try {
      this.#deps.admitCell();
    } catch (thrown) {
      this.#executionIds.delete(executionId);
      throw thrown;
    }
    const cell = new Cell(this, {
      cellId: String(this.#lastCellNumber + 1),
      executionId,
      callId,
      yieldMs: effectiveYieldMs(options.yieldTimeMs ?? DEFAULT_EXECUTE_YIELD_MS, maxYieldTimeMs),
      observation: options,
      output: this.#newOutput(),
      writes: this.#stored.begin(),
      maxMessageBytes: limits.maxMessageBytes,
      notifications: this.#newNotifications(),
    });
    this.#cells.set(cell.cellId, cell);
    this.#executions.set(executionId, cell);
    const program = {
      sessionKey: this.sessionId,
      source,
      tools,
      stored: this.#stored.snapshot,
      ...(maxHeapSizeBytes !== undefined && { heapLimitBytes: maxHeapSizeBytes }),
    };
    try {
      cell.attach(engine.start(program, cell));
    } catch (thrown) {
      this.#executionIds.delete(executionId);
      this.#forget(cell);
      throw thrown;
    }
    this.#lastCellNumber++;
    return cell;
  }

  #newOutput(): OutputBuffer {
    if (this.options.outputMode === "bounded") return new RetainedOutput();
    const { keepOversizedOutput, limits } = this.#deps;
    return keepOversizedOutput ? new OversizedOutput() : new UnboundedOutput(limits.maxMessageBytes);
  }

  #newNotifications(): OpenNotifications | undefined {
    const answerMs = this.options.notificationAnswerMs;
    if (answerMs === undefined) return undefined;
    return new OpenNotifications({
      clock: this.clock,
      answerMs,
      onRevoked: (notificationId) => {
        this.#openNotifications.delete(notificationId);
        this.#send({ type: "notification-cancelled", notificationId });
      },
    });
  }

  #observable(cellId: string): Cell | undefined {
    const cell = this.#cells.get(cellId);
    return cell?.isObservable === true ? cell : undefined;
  }

  #missing(cellId: string, request: ObservationRequest): CellAnswer {
    const errorText = `exec cell ${cellId} not found`;
    const items =
      this.options.outputMode === "bounded"
        ? this.#newOutput().fit([{ type: "text", text: scriptErrorText(errorText) }], request.maxOutputTokens)
        : [];
    const result = { type: "completed", errorText } as const;
    return { state: "missing", outcome: { cellId, items, result, hostDurationMs: 0 } };
  }

  #forget(cell: Cell): void {
    if (!this.#cells.delete(cell.cellId)) return;
    this.#executions.delete(cell.executionId);
    this.#deps.releaseCell();
  }

  #send(event: SessionEvent): void {
    this.events.push(event);
    const { maxLeaseBacklogBytes } = this.#deps.limits;
    if (this.events.backlogBytes <= maxLeaseBacklogBytes) return;
    const message = `the client has left more than ${maxLeaseBacklogBytes} bytes of session events unread`;
    void this.close(new TriviumError("resourceExhausted", message));
  }

  async #close(failure: TriviumError | undefined): Promise<void> {
    this.events.close(failure);
    this.#router.close(failure);
    const cells = [...this.#cells.values()];
    const gone = cells.map((cell) => cell.discard(failure));
    await Promise.all([...gone, this.#closeServerTools()]);
    for (const cell of cells) this.#forget(cell);
    this.#deps.engine.releaseSession(this.sessionId);
  }

  async #closeServerTools(): Promise<void> {
    try {
      await this.#serverCalls?.[Symbol.asyncDispose]();
    } catch (cause) {
      const { sessionId } = this;
      this.#deps.logger.error({ sessionId, cause }, "the server tools of a session did not close cleanly");
    }
  }
}

function live(outcome: CellOutcome | undefined, what: string): CellAnswer {
  if (outcome !== undefined) return { state: "live", outcome };
  throw new TriviumError("cancelled", `the ${what} was cancelled: its session was closed`);
}

/** Bytes of an encoded event, at most. Contract: code_mode.proto, SessionEvent. */
function eventBytes(event: SessionEvent): number {
  if (event.type !== "notified") return 1024;
  const { notificationId, executionId, cellId, callId, text } = event;
  let bytes = 0;
  for (const field of [notificationId, executionId, cellId, callId, text]) bytes += textFieldBytes(field);
  return fieldBytes(bytes);
}
