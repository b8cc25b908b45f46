import { TriviumError } from "@trivium/core";
import type {
  CellEvents,
  CellLook,
  CellObservation,
  CellOutputItem,
  CellSession,
  CellToolDefinition,
  CodeCellsPort,
} from "../ports/code-cells-port.ts";

/** A program of a test. */
export type FakeProgram = (cell: FakeCell) => Promise<void>;

/** Code cells whose programs are functions of the test, named by their source. */
export class FakeCodeCells implements CodeCellsPort {
  readonly programs: Map<string, FakeProgram> = new Map();
  readonly sessions: FakeCellSession[] = [];

  readSource(source: string): { code: string } {
    if (source.trim() === "") throw new TriviumError("invalidInput", "there is no source");
    return { code: source };
  }

  openSession(events: CellEvents, { heapBytes }: { heapBytes: number }): CellSession {
    const session = new FakeCellSession(this.programs, events, heapBytes);
    this.sessions.push(session);
    return session;
  }
}

/** One session; its cells are there to be looked at by tests. */
export class FakeCellSession implements CellSession {
  readonly cells: FakeCell[] = [];
  readonly heapBytes: number;
  isDisposed = false;
  readonly #programs: ReadonlyMap<string, FakeProgram>;
  readonly #events: CellEvents;

  constructor(programs: ReadonlyMap<string, FakeProgram>, events: CellEvents, heapBytes: number) {
    this.#programs = programs;
    this.#events = events;
    this.heapBytes = heapBytes;
  }

  start({ code, tools }: Parameters<CellSession["start"]>[0]): CellLook {
    const program = this.#programs.get(code);
    if (program === undefined) throw new TriviumError("resourceExhausted", `no program ${code}`);
    const cell = new FakeCell(String(this.cells.length + 1), this.#events, tools);
    this.cells.push(cell);
    const look = cell.look();
    cell.run(program);
    return look;
  }

  look(cellId: string): CellLook {
    return this.#cell(cellId).look();
  }

  async terminate(cellId: string): Promise<CellObservation> {
    return this.#cell(cellId).terminate();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.isDisposed = true;
    for (const cell of this.cells) cell.terminate();
  }

  #cell(cellId: string): FakeCell {
    const cell = this.cells.find((one) => one.cellId === cellId);
    if (cell === undefined) throw new TriviumError("notFound", `no cell ${cellId}`);
    return cell;
  }
}

/** A running program. */
export class FakeCell {
  readonly cellId: string;
  readonly tools: readonly CellToolDefinition[];
  readonly #events: CellEvents;
  readonly #abort = new AbortController();
  #items: CellOutputItem[] = [];
  #callCount = 0;
  #end: CellObservation["state"] | undefined;
  #look: PromiseWithResolvers<CellObservation> | undefined;

  constructor(cellId: string, events: CellEvents, tools: readonly CellToolDefinition[]) {
    this.cellId = cellId;
    this.#events = events;
    this.tools = tools;
  }

  /** Aborts when the program has ended. */
  get signal(): AbortSignal {
    return this.#abort.signal;
  }

  text(text: string): void {
    this.#items.push({ type: "text", text });
  }

  image(url: string): void {
    this.#items.push({ type: "image", url });
  }

  notify(text: string): void {
    this.#events.notified(this.cellId, text);
  }

  yieldControl(): void {
    this.#settle("running");
  }

  /** The promise of `tools.name(input)`. */
  async call(name: string, input?: unknown): Promise<unknown> {
    this.#callCount += 1;
    const toolCallId = `tool-${this.#callCount}`;
    const answer = await this.#events.called({
      cellId: this.cellId,
      toolCallId,
      name,
      signal: this.signal,
      ...(input !== undefined && { input }),
    });
    if ("problem" in answer) throw answer.problem;
    return answer.value;
  }

  /** The worker of the cell dies. */
  die(): void {
    this.#finish("lost");
  }

  run(program: FakeProgram): void {
    const running = Promise.resolve().then(() => program(this));
    running.then(
      () => this.#finish("completed"),
      (thrown: unknown) => {
        if (this.#end !== undefined) return;
        this.text(`Script error:\n${thrown instanceof Error ? thrown.message : String(thrown)}`);
        this.#finish("failed");
      },
    );
  }

  look(): CellLook {
    this.#look = Promise.withResolvers();
    const { promise } = this.#look;
    if (this.#end !== undefined) this.#settle(this.#end);
    return { cellId: this.cellId, observation: promise, end: () => this.#settle("running") };
  }

  terminate(): CellObservation {
    if (this.#end === undefined) this.#finish("terminated");
    return this.#observation(this.#end ?? "terminated");
  }

  #finish(end: CellObservation["state"]): void {
    if (this.#end !== undefined) return;
    this.#end = end;
    this.#abort.abort();
    this.#settle(end);
  }

  #settle(state: CellObservation["state"]): void {
    if (this.#look === undefined || (state === "running" && this.#end !== undefined)) return;
    const look = this.#look;
    this.#look = undefined;
    look.resolve(this.#observation(state));
  }

  #observation(state: CellObservation["state"]): CellObservation {
    const items = this.#items;
    this.#items = [];
    return { state, items, durationMs: 100 };
  }
}
