import { TriviumError } from "@trivium/core";
import type {
  CellEnd,
  CellEngine,
  CellEngineStats,
  CellListener,
  CellProgram,
  RunningCell,
} from "../engine/cell-engine.ts";

/**
 * A cell whose actions a test performs, one after the other, by calling the listener.
 *
 * `terminate()` ends it at once unless the test holds the end back.
 */
export class ScriptedCell implements RunningCell {
  readonly program: CellProgram;
  readonly listener: CellListener;
  /** What settled the program's tool calls, in order: id and JSON text or message. */
  readonly settled: { readonly toolCallId: string; readonly json?: string; readonly message?: string }[] = [];
  /** True: `terminate()` only counts, and the test calls {@link ScriptedCell.end} itself. */
  holdsEnd = false;
  terminations = 0;
  #hasEnded = false;

  constructor(program: CellProgram, listener: CellListener) {
    this.program = program;
    this.listener = listener;
  }

  get hasEnded(): boolean {
    return this.#hasEnded;
  }

  text(text: string): void {
    this.listener.output({ type: "text", text });
  }

  /** Calls the tool of that name with an argument. */
  call(toolCallId: string, name: string, inputJson?: string): void {
    const tool = this.program.tools.find((one) => one.name === name);
    if (tool === undefined) throw new TriviumError("notFound", `the program has no tool ${name}`);
    this.listener.toolCalled({ toolCallId, tool, inputJson });
  }

  complete(errorText?: string): void {
    this.end({ type: "completed", errorText });
  }

  end(end: CellEnd): void {
    if (this.#hasEnded) return;
    this.#hasEnded = true;
    this.listener.ended(end);
  }

  resolveTool(toolCallId: string, outputJson: string | Uint8Array): void {
    const json = typeof outputJson === "string" ? outputJson : new TextDecoder().decode(outputJson);
    this.settled.push({ toolCallId, json });
  }

  rejectTool(toolCallId: string, message: string): void {
    this.settled.push({ toolCallId, message });
  }

  terminate(): void {
    this.terminations++;
    if (!this.holdsEnd) this.end({ type: "terminated" });
  }
}

/** An engine without JavaScript: tests play the programs. */
export class ScriptedEngine implements CellEngine {
  readonly cells: ScriptedCell[] = [];
  readonly releasedSessions: string[] = [];
  /** Called for each new cell once it has started; the place for a script that needs no test in between. */
  onStart: (cell: ScriptedCell) => void = () => {};
  /** Thrown by `start` instead of starting. */
  refusal: Error | undefined;

  /** The newest cell. */
  get last(): ScriptedCell {
    const cell = this.cells.at(-1);
    if (cell === undefined) throw new TriviumError("notFound", "no cell has started");
    return cell;
  }

  start(program: CellProgram, listener: CellListener): RunningCell {
    if (this.refusal !== undefined) throw this.refusal;
    const cell = new ScriptedCell(program, listener);
    this.cells.push(cell);
    queueMicrotask(() => this.onStart(cell));
    return cell;
  }

  releaseSession(sessionKey: string): void {
    this.releasedSessions.push(sessionKey);
  }

  stats(): CellEngineStats {
    const liveCells = this.cells.filter((cell) => !cell.hasEnded).length;
    return { workers: 0, liveCells, workerRestarts: 0 };
  }

  [Symbol.asyncDispose](): Promise<void> {
    for (const cell of this.cells) cell.terminate();
    return Promise.resolve();
  }
}
