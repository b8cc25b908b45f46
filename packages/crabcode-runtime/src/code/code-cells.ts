import type { Clock, Logger } from "@trivium/core";
import type { CellLook, CellObservation, CellSession, CodeCellsPort } from "../ports/code-cells-port.ts";
import type { CodeSettings } from "../settings/code-settings.ts";
import {
  type CellCalls,
  type CellLookOptions,
  type CellProgram,
  failed,
  type ToolOutcome,
} from "../tools/tool.ts";
import type { CellCall, LoopCells, LoopDeps, LoopQuestions } from "../turn/loop-deps.ts";
import { cellOutcome, missingCell } from "./cell-text.ts";
import { Lane } from "./lane.ts";
import { type CallLanes, LiveCell } from "./live-cell.ts";
import { QuestionQueue } from "./question-queue.ts";

const LOST = "Error: the code worker died; stored values are lost";

/** What the cells of a loop are made of. */
export interface CodeCellsOptions {
  readonly port: CodeCellsPort;
  readonly settings: CodeSettings;
  readonly questions: LoopQuestions;
  readonly clock: Clock;
  readonly logger: Logger;
}

/** Keeps what a restart must know of cells that go on after their turn. */
export interface LeftCellsJournal {
  /** The turn ends, and cells go on. */
  left(): void;
  /** No cell is live any more. */
  ended(): void;
}

interface RunningCell {
  readonly cellId: string;
  readonly cell: LiveCell;
  readonly session: CellSession;
  readonly lifeTimer: Disposable;
}

/**
 * The code cells of one loop. They share stored values, which live until this is disposed or a worker dies. A cell is
 * live until its last output was taken.
 */
export class CodeCells implements LoopCells, AsyncDisposable {
  readonly questions: LoopQuestions;
  readonly #options: CodeCellsOptions;
  readonly #lanes: CallLanes;
  readonly #cells = new Map<string, RunningCell>();
  readonly #left: LeftCellsJournal[] = [];
  #session: CellSession | undefined;
  #isClosed = false;

  constructor(options: CodeCellsOptions) {
    this.#options = options;
    this.questions = new QuestionQueue(options.questions);
    this.#lanes = { shared: new Lane(options.settings.maxParallelCalls), exclusive: new Lane(1) };
  }

  callsOf(deps: LoopDeps, call: CellCall): CellCalls {
    return {
      start: (program) => this.#start(deps, call, program),
      look: (cellId, options) => this.#lookAt(cellId, options, call),
    };
  }

  /** A turn ends. */
  leave(journal: LeftCellsJournal): void {
    if (this.#cells.size === 0) return;
    journal.left();
    this.#left.push(journal);
  }

  /** Ends every live cell; resolves when their calls have their results. */
  async endCells(): Promise<void> {
    await Promise.all([...this.#cells.values()].map((running) => this.#end(running)));
  }

  /** Ends every live cell when the signal aborts; disposing it waits for that. */
  endOn(signal: AbortSignal): AsyncDisposable {
    let ending: Promise<void> | undefined;
    const onAbort = (): void => {
      ending = this.endCells();
    };
    if (signal.aborted) onAbort();
    else signal.addEventListener("abort", onAbort, { once: true });
    return {
      [Symbol.asyncDispose]: async () => {
        signal.removeEventListener("abort", onAbort);
        await ending;
      },
    };
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#isClosed = true;
    await this.endCells();
    await this.#closeSession();
  }

  async #start(deps: LoopDeps, call: CellCall, program: CellProgram): Promise<ToolOutcome> {
    const { settings, clock } = this.#options;
    if (this.#isClosed) return failed("Error: the session is closing");
    if (this.#cells.size >= settings.maxLiveCells) {
      return failed(`Error: too many live cells (${settings.maxLiveCells})`);
    }
    const { toolUseId } = call;
    const cell = new LiveCell({ deps, toolUseId, lanes: this.#lanes, maxCalls: settings.maxNestedCalls });
    const { code, maxOutputTokens } = program;
    let session: CellSession;
    let look: CellLook;
    try {
      session = this.#session ??= this.#openSession();
      look = session.start({ code, tools: cell.definitions, maxOutputTokens });
    } catch (thrown) {
      return failed(
        `Error: ${thrown instanceof Error ? thrown.message : "the program could not be started"}`,
      );
    }
    const { cellId } = look;
    const lifeTimer = clock.setTimer(settings.maxCellMs, () => void this.#end(running));
    const running: RunningCell = { cellId, cell, session, lifeTimer };
    this.#cells.set(cellId, running);
    return this.#observe(running, look, { ...call, yieldTimeMs: program.yieldTimeMs });
  }

  async #lookAt(
    cellId: string,
    { maxOutputTokens, yieldTimeMs, terminate }: CellLookOptions,
    call: CellCall,
  ): Promise<ToolOutcome> {
    const running = this.#cells.get(cellId);
    if (running === undefined) return missingCell(cellId);
    if (terminate) {
      running.cell.interruptCalls();
      const observation = running.session.terminate(cellId, { maxOutputTokens });
      return this.#conclude(running, observation);
    }
    let look: CellLook;
    try {
      look = running.session.look(cellId, { maxOutputTokens });
    } catch (thrown) {
      return failed(`Error: ${thrown instanceof Error ? thrown.message : "the cell cannot be looked at"}`);
    }
    return this.#observe(running, look, { ...call, yieldTimeMs });
  }

  async #observe(
    running: RunningCell,
    look: CellLook,
    { signal, yieldTimeMs }: CellCall & { readonly yieldTimeMs: number },
  ): Promise<ToolOutcome> {
    using _timer = running.cell.startTimer(this.#options.clock, yieldTimeMs, () => look.end());
    const onAbort = (): void => void this.#end(running);
    signal.addEventListener("abort", onAbort, { once: true });
    try {
      return await this.#conclude(running, look.observation);
    } finally {
      signal.removeEventListener("abort", onAbort);
    }
  }

  /** Waits for what a look brings; a cell that has ended is forgotten once its calls have their results. */
  async #conclude(running: RunningCell, looking: Promise<CellObservation>): Promise<ToolOutcome> {
    const { cellId, cell } = running;
    let observation: CellObservation;
    try {
      observation = await looking;
    } catch (cause) {
      cell.interruptCalls();
      await this.#forget(running);
      this.#options.logger.warn({ cellId, cause }, "a code cell ended without an answer");
      return failed(`Error: ${cause instanceof Error ? cause.message : "the cell has ended"}`);
    }
    if (observation.state === "running") return cellOutcome(cellId, observation, cell.notes.take());
    // Nobody hears of what they bring.
    cell.interruptCalls();
    await this.#forget(running);
    if (observation.state !== "lost") return cellOutcome(cellId, observation, cell.notes.take());
    if (running.session === this.#session) {
      await this.endCells();
      await this.#closeSession();
    }
    return failed(LOST);
  }

  /** Ends a cell by force. Never rejects. */
  async #end(running: RunningCell): Promise<void> {
    const { session, cell, cellId } = running;
    cell.interruptCalls();
    try {
      await session.terminate(cellId, { maxOutputTokens: 0 });
    } catch (cause) {
      // Somebody else ends it, or its session.
      this.#options.logger.debug({ cellId, cause }, "a code cell was being ended already");
    }
    await this.#forget(running);
  }

  async #forget({ cellId, cell, lifeTimer }: RunningCell): Promise<void> {
    lifeTimer[Symbol.dispose]();
    await cell.callsEnded();
    if (this.#cells.get(cellId)?.cell === cell) this.#cells.delete(cellId);
    if (this.#cells.size === 0) this.#allEnded();
  }

  #allEnded(): void {
    for (const journal of this.#left.splice(0)) {
      try {
        journal.ended();
      } catch (cause) {
        // The next load finds that nothing is open.
        this.#options.logger.warn({ cause }, "the end of code cells was not kept");
      }
    }
  }

  #openSession(): CellSession {
    const { port, settings } = this.#options;
    return port.openSession(
      {
        called: async (call) =>
          (await this.#cells.get(call.cellId)?.cell.call(call)) ?? { problem: "Interrupted" },
        notified: (cellId, text) => this.#cells.get(cellId)?.cell.notes.add(text),
      },
      { heapBytes: settings.heapBytes },
    );
  }

  async #closeSession(): Promise<void> {
    const session = this.#session;
    this.#session = undefined;
    await session?.[Symbol.asyncDispose]();
  }
}
