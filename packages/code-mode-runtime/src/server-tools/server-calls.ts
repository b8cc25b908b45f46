import type { Cell, ToolCallRequest } from "../cell/cell.ts";
import type { CodeModeLimits } from "../limits.ts";
import type { ToolCallResult } from "../tool-calls/tool-call.ts";
import { utf8Bytes } from "../wire-size.ts";
import type { ServerTools } from "./server-tools.ts";

/** What the calls of a session need. */
export interface ServerCallsOptions {
  readonly sessionId: string;
  readonly tools: ServerTools;
  readonly limits: CodeModeLimits;
}

interface WaitingCall {
  readonly cell: Cell;
  readonly request: ToolCallRequest;
  readonly bytes: number;
}

interface RunningCall {
  readonly cell: Cell;
  readonly controller: AbortController;
  readonly settled: Promise<void>;
}

/**
 * The calls of one session that this process answers itself. A few run at once, the others wait in the order in which
 * they were made. Clients see nothing of them.
 */
export class ServerCalls implements AsyncDisposable {
  readonly #options: ServerCallsOptions;
  readonly #running = new Set<RunningCall>();
  #waiting: WaitingCall[] = [];
  #waitingBytes = 0;

  constructor(options: ServerCallsOptions) {
    this.#options = options;
  }

  /** True for a tool whose calls are answered here unless a client takes them. */
  takes({ tool }: ToolCallRequest): boolean {
    return tool.namespace === this.#options.tools.namespace;
  }

  /** Runs a call, keeps it until there is room, or rejects its promise. */
  dispatch(cell: Cell, request: ToolCallRequest): void {
    const bytes = request.inputJson === undefined ? 0 : utf8Bytes(request.inputJson);
    const refusal = this.#refusal(request, bytes);
    if (refusal !== undefined) {
      cell.rejectTool(request.toolCallId, refusal);
      return;
    }
    this.#waiting.push({ cell, request, bytes });
    this.#waitingBytes += bytes;
    this.#startWaiting();
  }

  /** The cell is over: its calls are void. */
  cancelCell(cell: Cell): void {
    this.#dropWaiting((waiting) => waiting.cell === cell);
    for (const running of this.#running) {
      if (running.cell === cell) running.controller.abort(cancelled());
    }
  }

  /** Resolves when nothing of the cell's calls runs any more; undefined when nothing does. */
  gone(cell: Cell): Promise<unknown> | undefined {
    const calls = [...this.#running].filter((running) => running.cell === cell);
    return calls.length === 0 ? undefined : Promise.all(calls.map(({ settled }) => settled));
  }

  /** Ends every call, then the tools. */
  async [Symbol.asyncDispose](): Promise<void> {
    this.#dropWaiting(() => true);
    const calls = [...this.#running];
    for (const { controller } of calls) controller.abort(cancelled());
    await Promise.all(calls.map(({ settled }) => settled));
    await this.#options.tools[Symbol.asyncDispose]();
  }

  #refusal({ tool: { toolName } }: ToolCallRequest, bytes: number): string | undefined {
    const { maxRunningServerCalls, maxWaitingServerCalls, maxToolCallBacklogBytes } = this.#options.limits;
    if (this.#waiting.length >= maxWaitingServerCalls && this.#running.size >= maxRunningServerCalls) {
      return `too many calls of server tools: besides those that run, ${maxWaitingServerCalls} of a session may wait`;
    }
    if (this.#waitingBytes + bytes > maxToolCallBacklogBytes) {
      return `the call of ${toolName} does not fit: calls of server tools that wait take at most ${maxToolCallBacklogBytes} bytes in this session`;
    }
    return undefined;
  }

  #startWaiting(): void {
    while (this.#running.size < this.#options.limits.maxRunningServerCalls) {
      const next = this.#waiting.shift();
      if (next === undefined) return;
      this.#waitingBytes -= next.bytes;
      this.#start(next);
    }
  }

  #start({ cell, request }: WaitingCall): void {
    const controller = new AbortController();
    const ended = Promise.withResolvers<void>();
    const running: RunningCall = { cell, controller, settled: ended.promise };
    this.#running.add(running);
    void this.#answer(cell, request, controller.signal).finally(() => {
      this.#running.delete(running);
      ended.resolve();
      this.#startWaiting();
    });
  }

  /** Never rejects. A cell that has ended takes no answer. */
  async #answer(
    cell: Cell,
    { toolCallId, tool, inputJson }: ToolCallRequest,
    signal: AbortSignal,
  ): Promise<void> {
    const { sessionId, tools } = this.#options;
    const callId = `${sessionId}/${cell.cellId}/${toolCallId}`;
    let result: ToolCallResult;
    try {
      result = await tools.call({ callId, name: tool.toolName, inputJson, signal });
    } catch (thrown) {
      result = { type: "failed", message: thrown instanceof Error ? thrown.message : String(thrown) };
    }
    if (signal.aborted) return;
    if (result.type === "succeeded") cell.resolveTool(toolCallId, result.outputJson);
    else cell.rejectTool(toolCallId, result.message);
  }

  #dropWaiting(isVoid: (waiting: WaitingCall) => boolean): void {
    this.#waiting = this.#waiting.filter((waiting) => !isVoid(waiting));
    this.#waitingBytes = this.#waiting.reduce((sum, { bytes }) => sum + bytes, 0);
  }
}

function cancelled(): DOMException {
  return new DOMException("the program that made the call has ended", "AbortError");
}
