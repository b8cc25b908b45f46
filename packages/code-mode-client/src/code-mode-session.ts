import { type Client, createClient, type Transport } from "@connectrpc/connect";
import { abortReason, linkSignals, systemClock, TriviumError } from "@trivium/core";
import { CodeModeHost, type SessionOpened, type WaitResponse } from "@trivium/proto/code-mode";
import { fromConnectError } from "@trivium/rpc";
import { Callbacks } from "./callbacks.ts";
import { CellBusyError } from "./cell-busy-error.ts";
import { followCell } from "./follow-cell.ts";
import { readLease } from "./lease.ts";
import { firstEvent, toOpenHeaders, toOpenRequest } from "./opening.ts";
import { type CellAnswer, type CellOutcome, fromWaitResponse, fromWireOutcome } from "./outcome.ts";
import { toOversized } from "./oversized.ts";
import { PeerWatch } from "./peer-watch.ts";
import type { SessionClosedError } from "./session-closed-error.ts";
import { SessionLink } from "./session-link.ts";
import type { ExecuteOptions, OpenSessionOptions, TerminateOptions, WaitOptions } from "./session-options.ts";
import { toBudget } from "./to-budget.ts";
import { Catalogue } from "./tools/catalogue.ts";
import { type Execution, Executions } from "./tools/executions.ts";
import type { ToolDefinition } from "./tools/tool-definition.ts";
import { type ServedTool, type ToolHandler, ToolServer } from "./tools/tool-server.ts";
import { toUint64 } from "./uint64.ts";

const DEFAULT_HEARTBEAT_INTERVAL_MS = 15_000;
const DEFAULT_REQUEST_TIMEOUT_MS = 60_000;
const DEFAULT_YIELD_TIME_MS = 10_000;
/** Namespace of the server's own tools. */
const SERVER_NAMESPACE = "grok";
/** The host adds this to long waits. */
const YIELD_GRACE_MS = 1000;

interface SessionParts {
  readonly link: SessionLink;
  readonly executions: Executions;
  readonly toolServer: ToolServer;
  readonly catalogue: Catalogue;
  /** Outcomes wait for the handlers of notifications. */
  readonly awaitsNotifications: boolean;
  /** The tools of each Execute are subscribed to before it. */
  readonly subscribesByName: boolean;
}

/**
 * One leased session on a code-mode host.
 *
 * Disposing it closes the session; the host then terminates every live cell. Every call throws
 * {@link SessionClosedError} once the session is over, whoever ended it.
 *
 * @example
 * ```ts
 * await using session = await CodeModeSession.open(transport);
 * await session.serveTools({ add: (input) => sum(input) });
 * const outcome = await session.execute("text(await tools.add([1, 2]))");
 * ```
 */
export class CodeModeSession implements AsyncDisposable {
  readonly #parts: SessionParts;
  /** Wait in progress, by cell. */
  readonly #waiting = new Map<string, string>();
  #closing: Promise<void> | undefined;

  private constructor(parts: SessionParts) {
    this.#parts = parts;
  }

  /**
   * Opens a session. Resolves when the host has said its id.
   *
   * @throws {@link TriviumError} what the host answers; `deadlineExceeded` when it does not answer in time.
   */
  static async open(transport: Transport, options: OpenSessionOptions = {}): Promise<CodeModeSession> {
    const { clock = systemClock, requestTimeoutMs = DEFAULT_REQUEST_TIMEOUT_MS } = options;
    const heartbeatIntervalS = Math.ceil(
      (options.heartbeatIntervalMs ?? DEFAULT_HEARTBEAT_INTERVAL_MS) / 1000,
    );
    const client = createClient(CodeModeHost, transport);
    const lifetime = new AbortController();
    const request = toOpenRequest(options, heartbeatIntervalS);
    const call = { ...toOpenHeaders(options), signal: lifetime.signal };
    const events = client.openSession(request, call)[Symbol.asyncIterator]();
    using opening = linkSignals([options.signal], { timeoutMs: requestTimeoutMs, clock });
    const stop = (): void => lifetime.abort(opening.signal.reason);
    opening.signal.addEventListener("abort", stop, { once: true });
    let opened: SessionOpened;
    try {
      if (opening.signal.aborted) throw abortReason(opening.signal);
      opened = await firstEvent(events);
    } catch (thrown) {
      lifetime.abort();
      if (options.signal?.aborted === true) throw abortReason(options.signal);
      if (opening.signal.aborted) {
        throw new TriviumError("deadlineExceeded", `no session within ${requestTimeoutMs} ms`);
      }
      throw fromConnectError(thrown);
    }
    const { sessionId, catalogSupport } = opened;
    const link = new SessionLink({ client, sessionId, clock, requestTimeoutMs, lifetime });
    const callbacks = new Callbacks(options);
    const executions = new Executions({
      onRevoked: (executionId) => toolServer.cancelExecution(executionId),
      onCellClosed: (cellId) => callbacks.cellClosed(cellId),
    });
    const watch = new PeerWatch(clock, heartbeatIntervalS * 1000, (silentMs) =>
      link.end(`the host has been silent for ${silentMs} ms`),
    );
    const heard = (isHeartbeat: boolean): void => watch.heard(isHeartbeat);
    const { onToolCall: delegate, maxPendingCalls, serverTools = "none" } = options;
    const toolServer: ToolServer = new ToolServer({
      link,
      executions,
      heartbeatIntervalS,
      heard,
      delegate,
      maxPendingCalls,
    });
    const lease = { [Symbol.asyncIterator]: () => events };
    void readLease(lease, { link, watch, executions, toolServer, callbacks });
    // A subscription to everything would leave nothing for the server's own tools.
    const subscribesByName = delegate !== undefined && serverTools !== "none";
    const session = new CodeModeSession({
      link,
      executions,
      toolServer,
      catalogue: new Catalogue(catalogSupport > 0),
      awaitsNotifications: options.onNotification !== undefined,
      subscribesByName,
    });
    if (delegate !== undefined && !subscribesByName) await toolServer.subscribeToAll();
    return session;
  }

  /** UUID that the host gave. */
  get sessionId(): string {
    return this.#parts.link.sessionId;
  }

  /** True once the session is over. */
  get isOver(): boolean {
    return this.#parts.link.hasEnded;
  }

  /** Resolves when the session is over, with the reason; its `cause` is absent when it was closed in order. */
  get ended(): Promise<SessionClosedError> {
    return this.#parts.link.ended;
  }

  /**
   * Answers the calls of programs to these tools, by name, until the session ends. Programs started afterwards may
   * call them without naming them. Resolves when calls reach this client.
   *
   * @throws {@link TriviumError} `alreadyExists` for a tool that is served already.
   */
  serveTools(tools: Readonly<Record<string, ToolHandler | ServedTool>>): Promise<void> {
    return this.#parts.toolServer.serve(tools);
  }

  /**
   * Runs one program until it yields, completes or is terminated. A program that fails is an outcome, not an error.
   *
   * @throws {@link TriviumError} `outOfRange` when the output fits in no message, `resourceExhausted` when the host
   * runs too many cells, `invalidInput` for what the host does not take.
   */
  async execute(source: string, options: ExecuteOptions = {}): Promise<CellOutcome> {
    const { catalogue, toolServer, subscribesByName } = this.#parts;
    const tools = options.tools ?? toolServer.definitions;
    if (subscribesByName)
      await toolServer.subscribeTo(tools.filter((tool) => tool.namespace !== SERVER_NAMESPACE));
    // A refused reference spends the execution id, so only ids of our own can be replaced.
    const fields = catalogue.fields(tools, options.executionId === undefined);
    const isReference = fields.catalogRevision !== undefined && fields.enabledTools === undefined;
    try {
      return await this.#execute({ source, tools, fields }, options);
    } catch (thrown) {
      if (!isReference || !TriviumError.isInstance(thrown) || thrown.kind !== "failedPrecondition")
        throw thrown;
      catalogue.forget();
      return await this.#execute({ source, tools, fields: catalogue.fields(tools, false) }, options);
    }
  }

  /**
   * Runs one program to its end, yielding each outcome on the way. Leaving the loop early terminates the cell.
   *
   * @throws as {@link execute} and {@link wait}.
   */
  async *run(source: string, options: ExecuteOptions = {}): AsyncGenerator<CellOutcome, void> {
    yield* followCell(this, await this.execute(source, options), options);
  }

  /**
   * Looks at a cell until it completes, yields, or the time is over. One look at a time per cell.
   *
   * @throws {@link CellBusyError} while another look is in progress, {@link TriviumError} `outOfRange` when the output
   * fits in no message; the reason of the signal when it aborts, with nothing lost.
   */
  async wait(cellId: string, options: WaitOptions = {}): Promise<CellAnswer> {
    const { link } = this.#parts;
    if (this.#waiting.has(cellId)) throw new CellBusyError(cellId);
    const waitId = crypto.randomUUID();
    this.#waiting.set(cellId, waitId);
    try {
      const { signal, yieldTimeMs = DEFAULT_YIELD_TIME_MS, maxOutputTokens } = options;
      if (signal?.aborted === true) throw abortReason(signal);
      const request = {
        sessionId: link.sessionId,
        cellId,
        waitId,
        yieldTimeMs: toUint64("yieldTimeMs", yieldTimeMs),
        ...toBudget(maxOutputTokens),
      };
      const timeoutMs = yieldTimeMs + YIELD_GRACE_MS + link.requestTimeoutMs;
      using _ = this.#cancelOnAbort(waitId, signal);
      const response = await link
        .call((call) => link.client.wait(request, call), { timeoutMs })
        .catch((thrown: unknown) => {
          throw this.#toWaitError(thrown, signal);
        });
      return await this.#answered(response, this.#parts.executions.ofCell(cellId));
    } finally {
      this.#waiting.delete(cellId);
    }
  }

  /**
   * Ends a cell by force, or takes the result of one that has completed.
   *
   * @throws {@link TriviumError} `failedPrecondition` while it is being terminated already.
   */
  async terminate(cellId: string, options: TerminateOptions = {}): Promise<CellAnswer> {
    const { link, executions } = this.#parts;
    const { client, sessionId } = link;
    const request = { sessionId, cellId, ...toBudget(options.maxOutputTokens) };
    const { signal } = options;
    const execution = executions.ofCell(cellId);
    let response: WaitResponse;
    try {
      response = await link.call((call) => client.terminate(request, call), { signal });
    } catch (thrown) {
      // While another one is in progress, that one has the outcome.
      const isOther = TriviumError.isInstance(thrown) && thrown.kind === "failedPrecondition";
      if (execution !== undefined && !isOther) executions.claim(execution.executionId);
      throw thrown;
    }
    return await this.#answered(response, execution);
  }

  /**
   * Ends the look at a cell that is in progress, {@link execute} or {@link wait}, with what there is; the cell runs on.
   * Without one it does nothing.
   */
  async yieldObservation(cellId: string, options: { readonly signal?: AbortSignal } = {}): Promise<void> {
    const { link, executions } = this.#parts;
    const { client, sessionId } = link;
    const waitId = this.#waiting.get(cellId);
    const executionId = executions.ofCell(cellId)?.executionId;
    const observation =
      waitId === undefined
        ? { case: "executionId" as const, value: executionId }
        : { case: "waitId" as const, value: waitId };
    const { value } = observation;
    if (value === undefined) return;
    const request = { sessionId, observation: { ...observation, value } };
    await link.call((call) => client.yieldObservation(request, call), { signal: options.signal });
  }

  /** Closes the session and waits until its cells are gone. Never fails: dropping the lease does the same. */
  close(): Promise<void> {
    this.#closing ??= this.#close();
    return this.#closing;
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }

  async #execute(
    program: { source: string; tools: readonly ToolDefinition[]; fields: ReturnType<Catalogue["fields"]> },
    options: ExecuteOptions,
  ): Promise<CellOutcome> {
    const { link, executions } = this.#parts;
    const { signal, yieldTimeMs, maxOutputTokens, executionId = crypto.randomUUID() } = options;
    const { toolCallId = executionId } = options;
    const execution = executions.begin(executionId, toolCallId, program.tools);
    const request = {
      sessionId: link.sessionId,
      executionId,
      toolCallId,
      source: program.source,
      ...program.fields,
      ...(yieldTimeMs !== undefined && { yieldTimeMs: toUint64("yieldTimeMs", yieldTimeMs) }),
      ...toBudget(maxOutputTokens),
    };
    const timeoutMs = (yieldTimeMs ?? DEFAULT_YIELD_TIME_MS) + YIELD_GRACE_MS + link.requestTimeoutMs;
    try {
      const outcome = await link.call(
        (call) => this.#readExecute(execution, link.client.execute(request, call), options.onStarted),
        {
          signal,
          timeoutMs,
        },
      );
      if (outcome === undefined) throw link.end("the host closed the session");
      await this.#taken(outcome, execution);
      return outcome;
    } catch (thrown) {
      if (execution.cellId === undefined || signal?.aborted === true) executions.abandon(executionId);
      else executions.claim(executionId);
      throw execution.cellId === undefined ? thrown : toOversized(thrown);
    }
  }

  /** Reads to the end of the stream, so that nothing of it is left on the connection. */
  async #readExecute(
    execution: Execution,
    events: ReturnType<Client<typeof CodeModeHost>["execute"]>,
    onStarted: ExecuteOptions["onStarted"],
  ): Promise<CellOutcome | undefined> {
    let outcome: CellOutcome | undefined;
    for await (const { event } of events) {
      if (event.case === "started") {
        this.#started(execution, event.value);
        onStarted?.(event.value.cellId);
      } else if (event.case === "outcome") outcome = fromWireOutcome(event.value);
    }
    return outcome;
  }

  #started(execution: Execution, { executionId, cellId }: { executionId: string; cellId: string }): void {
    const { link, executions } = this.#parts;
    const isWrong =
      executionId !== execution.executionId ||
      execution.cellId !== undefined ||
      executions.ofCell(cellId) !== undefined;
    if (isWrong) {
      const what = `the host started execution ${executionId} in cell ${cellId}, which does not fit`;
      throw link.end(what, new TriviumError("internal", what));
    }
    execution.cellId = cellId;
  }

  async #answered(response: WaitResponse, execution: Execution | undefined): Promise<CellAnswer> {
    const answer = fromWaitResponse(response);
    if (answer.state === "missing" && execution !== undefined) {
      // The host may have said so on the lease, whose events have yet to be read.
      this.#parts.executions.close(execution.executionId, execution.cellId);
    }
    await this.#taken(answer.outcome, execution);
    return answer;
  }

  /** A completed outcome comes after what the program said before it; a terminated one ends that. */
  async #taken(outcome: CellOutcome, execution: Execution | undefined): Promise<void> {
    const { awaitsNotifications, executions } = this.#parts;
    if (execution === undefined || outcome.state === "yielded") return;
    if (outcome.state === "terminated") executions.cancelNotifications(execution.executionId);
    else if (awaitsNotifications) await execution.settled;
    executions.claim(execution.executionId);
  }

  /** A Wait that nobody here cancelled was cut by the end of the session. */
  #toWaitError(thrown: unknown, signal: AbortSignal | undefined): unknown {
    const { link } = this.#parts;
    if (link.hasEnded || !TriviumError.isInstance(thrown) || thrown.kind !== "cancelled") return thrown;
    return signal?.aborted === true ? abortReason(signal) : link.end("the host closed the session");
  }

  /** Disposing it ends the listening. A CancelWait that fails ends the session: the cell would stay busy. */
  #cancelOnAbort(waitId: string, signal: AbortSignal | undefined): Disposable {
    const { link } = this.#parts;
    const cancel = (): void => {
      const request = { sessionId: link.sessionId, waitId };
      link
        .call((call) => link.client.cancelWait(request, call))
        .catch((thrown: unknown) => {
          link.end("a wait could not be cancelled", fromConnectError(thrown));
        });
    };
    signal?.addEventListener("abort", cancel, { once: true });
    return { [Symbol.dispose]: () => signal?.removeEventListener("abort", cancel) };
  }

  async #close(): Promise<void> {
    const { link } = this.#parts;
    try {
      if (!link.hasEnded) {
        await link.call((call) => link.client.closeSession({ sessionId: link.sessionId }, call));
      }
    } catch {
      // Whatever is wrong with the host, ending the lease below is the other way to close the session.
    } finally {
      link.end("the session was closed");
    }
  }
}
