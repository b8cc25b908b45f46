import { type Clock, linkSignals } from "@trivium/core";
import type { CellToolAnswer, CellToolCall, CellToolDefinition } from "../ports/code-cells-port.ts";
import type { Tool, ToolOutcome } from "../tools/tool.ts";
import { ToolSet } from "../tools/tool-set.ts";
import type { LoopDeps } from "../turn/loop-deps.ts";
import { type ModelCall, readInput } from "../turn/response-collector.ts";
import { interrupted } from "../turn/tool-call.ts";
import { runToolPhase } from "../turn/tool-phase.ts";
import { CellNotes } from "./cell-notes.ts";
import type { Lane } from "./lane.ts";
import { PausableTimer } from "./pausable-timer.ts";
import { pausingQuestions } from "./question-queue.ts";

/** Tools that have no place in a program: cells, modes, and waiting for an agent without a bound. */
const NOT_NESTED: ReadonlySet<string> = new Set([
  "Code",
  "CodeWait",
  "SwitchMode",
  "Agent",
  // A cell may go on while no turn, or another, holds the conversation.
  "Checkpoint",
  "Revert",
]);

/** Nested calls end their grace before the call that they belong to. */
const NESTED_GRACE_SHARE = 0.75;

const outputSchema = {
  type: "object",
  properties: { text: { type: "string" }, data: { type: ["object", "null"] } },
  required: ["text", "data"],
};

/** Where the calls of all cells of a loop wait for their turn. */
export interface CallLanes {
  /** For tools that may run side by side. */
  readonly shared: Lane;
  /** For the others. */
  readonly exclusive: Lane;
}

/** What a cell is made of. */
export interface LiveCellOptions {
  /** The loop as it was when the cell was started. */
  readonly deps: LoopDeps;
  /** The call that started it. */
  readonly toolUseId: string;
  readonly lanes: CallLanes;
  readonly maxCalls: number;
}

/** A program that runs, seen from the loop whose tools it calls. */
export class LiveCell {
  readonly notes: CellNotes = new CellNotes();
  readonly #options: LiveCellOptions;
  readonly #tools: ToolSet;
  readonly #deps: LoopDeps;
  readonly #ending = new AbortController();
  readonly #running = new Set<Promise<unknown>>();
  #callCount = 0;
  #openQuestions = 0;
  #timer: PausableTimer | undefined;

  constructor(options: LiveCellOptions) {
    const { deps, toolUseId } = options;
    this.#options = options;
    this.#tools = new ToolSet(nestedTools(deps));
    this.#deps = {
      ...deps,
      events: deps.events.nested(toolUseId),
      questions: pausingQuestions(deps.questions, {
        pause: () => this.#pause(),
        resume: () => this.#resume(),
      }),
      tools: this.#tools,
      // A restart takes up no program, so it needs to know nothing of its calls.
      journal: { ...deps.journal, callStarted: () => {} },
      resumed: undefined,
      stopGraceMs: Math.floor(deps.stopGraceMs * NESTED_GRACE_SHARE),
      cells: undefined,
    };
  }

  /** The tools of the program, as it sees them. They stay as they were when it was started. */
  get definitions(): CellToolDefinition[] {
    return this.#tools.all.map(({ name, description, inputSchema }) => ({
      name,
      description,
      inputSchema,
      outputSchema,
    }));
  }

  /** Calls back once that time has passed while no question of the cell was open. */
  startTimer(clock: Clock, delayMs: number, callback: () => void): Disposable {
    const timer = new PausableTimer(clock, delayMs, callback);
    this.#timer = timer;
    if (delayMs === 0) callback();
    else if (this.#openQuestions === 0) timer.resume();
    return {
      [Symbol.dispose]: () => {
        timer[Symbol.dispose]();
        if (this.#timer === timer) this.#timer = undefined;
      },
    };
  }

  /** Runs a call of the program like any other call of the loop. Never rejects. */
  async call(call: CellToolCall): Promise<CellToolAnswer> {
    const { maxCalls } = this.#options;
    this.#callCount += 1;
    if (this.#callCount > maxCalls) {
      return { problem: `Error: too many tool calls in one cell (${maxCalls})` };
    }
    const running = this.#run(call);
    this.#running.add(running);
    let outcome: ToolOutcome;
    try {
      outcome = await running;
    } catch (cause) {
      this.#deps.logger.error({ tool: call.name, cause }, "a call of a program failed");
      return { problem: "Error: the call failed" };
    } finally {
      this.#running.delete(running);
    }
    const { result, isError, data } = outcome;
    return isError ? { problem: result } : { value: { text: result, data: data ?? null } };
  }

  /** Interrupts the calls of the program. */
  interruptCalls(): void {
    this.#ending.abort(new DOMException("the cell has ended", "AbortError"));
  }

  /** Resolves when every call has its result. */
  async callsEnded(): Promise<void> {
    while (this.#running.size > 0) await Promise.allSettled(this.#running);
  }

  async #run({ toolCallId, name, input, signal }: CellToolCall): Promise<ToolOutcome> {
    const { events } = this.#deps;
    const call = this.#toModelCall(`${this.#options.toolUseId}/${toolCallId}`, name, input);
    events.publish({
      type: "tool_use",
      tool_name: name,
      tool_input: call.input,
      tool_use_id: call.toolUseId,
      agent_id: events.agentId,
    });
    using linked = linkSignals([signal, this.#ending.signal]);
    const { shared, exclusive } = this.#options.lanes;
    const lane = this.#tools.find(name)?.isConcurrencySafe === true ? shared : exclusive;
    using _place = await lane.enter(linked.signal);
    const [step] = await runToolPhase(this.#deps, [call], linked.signal);
    // The call is not in the history, so what hooks said about it goes with the output of the program.
    for (const said of step?.feedback ?? []) this.notes.add(said);
    return step?.outcome ?? interrupted;
  }

  #toModelCall(toolUseId: string, name: string, input: unknown): ModelCall {
    const isObject = typeof input === "object" && input !== null && !Array.isArray(input);
    // A call without an argument is one with an empty object.
    const given = input === undefined ? {} : isObject ? { ...input } : undefined;
    return { toolUseId, name, ...readInput(given === undefined ? {} : { input: given }) };
  }

  #pause(): void {
    this.#openQuestions += 1;
    this.#timer?.pause();
  }

  #resume(): void {
    this.#openQuestions -= 1;
    if (this.#openQuestions === 0) this.#timer?.resume();
  }
}

function nestedTools({ tools, mode }: LoopDeps): Tool[] {
  return tools.all.filter(
    ({ name, isReadOnly }) => !NOT_NESTED.has(name) && (mode === "agent" || isReadOnly),
  );
}
