import { type ToolDefinition, toolKey } from "./tool-definition.ts";

/** A program that was sent to the host. */
export interface Execution {
  readonly executionId: string;
  /** Label that its notifications carry. */
  readonly toolCallId: string;
  /** Keys of the tools it may call. */
  readonly tools: ReadonlySet<string>;
  cellId: string | undefined;
  /** Settles when the cell is gone and the handlers of its notifications have finished. */
  readonly settled: Promise<void>;
  /** Aborts when its notifications are of no interest any more. */
  readonly signal: AbortSignal;
}

interface Entry extends Execution {
  readonly resolvers: PromiseWithResolvers<void>;
  readonly controller: AbortController;
  readonly notifications: Set<Promise<void>>;
  /** What the host named at the end; `started` may come later, on another stream. */
  closedCellId: string | undefined;
  state: "open" | "closed" | "settled";
  isClaimed: boolean;
}

/** What the client side is told of cells. None of it throws. */
export interface ExecutionsOptions {
  /** Nothing more comes of a program: its running tool calls are void. */
  readonly onRevoked: (executionId: string) => void;
  /** Once for each cell that is gone. */
  readonly onCellClosed: (cellId: string) => void;
}

/** The programs of a session that are not gone. They are known before the host has answered. */
export class Executions {
  readonly #entries = new Map<string, Entry>();
  readonly #options: ExecutionsOptions;

  constructor(options: ExecutionsOptions) {
    this.#options = options;
  }

  begin(executionId: string, toolCallId: string, tools: readonly ToolDefinition[]): Execution {
    const resolvers = Promise.withResolvers<void>();
    const controller = new AbortController();
    const entry: Entry = {
      executionId,
      toolCallId,
      tools: new Set(tools.map(toolKey)),
      cellId: undefined,
      settled: resolvers.promise,
      signal: controller.signal,
      resolvers,
      controller,
      notifications: new Set(),
      closedCellId: undefined,
      state: "open",
      isClaimed: false,
    };
    this.#entries.set(executionId, entry);
    return entry;
  }

  /** One whose cell is not gone. */
  get(executionId: string): Execution | undefined {
    const entry = this.#entries.get(executionId);
    return entry?.state === "open" ? entry : undefined;
  }

  /** The program of a cell, until everything about it has been told. */
  ofCell(cellId: string): Execution | undefined {
    for (const entry of this.#entries.values()) if (entry.cellId === cellId) return entry;
    return undefined;
  }

  /** The handler of a notification runs. */
  track(executionId: string, handling: Promise<void>): void {
    const entry = this.#entries.get(executionId);
    if (entry === undefined) return;
    entry.notifications.add(handling);
    void handling.finally(() => entry.notifications.delete(handling));
  }

  /** Its cell is gone; `cellId` is absent when it never had one. */
  close(executionId: string, cellId: string | undefined): void {
    const entry = this.#entries.get(executionId);
    if (entry === undefined || entry.state !== "open") return;
    entry.state = "closed";
    entry.closedCellId = cellId;
    this.#options.onRevoked(executionId);
    void Promise.allSettled(entry.notifications).then(() => {
      entry.state = "settled";
      entry.resolvers.resolve();
      this.#finish(entry);
    });
  }

  /** Its last outcome was taken, or nobody will take it. */
  claim(executionId: string): void {
    const entry = this.#entries.get(executionId);
    if (entry === undefined) return;
    entry.isClaimed = true;
    this.#finish(entry);
  }

  /** Its notifications are of no interest any more. */
  cancelNotifications(executionId: string): void {
    this.#entries.get(executionId)?.controller.abort(new DOMException("the program was ended", "AbortError"));
  }

  /** Nobody waits for its first outcome: the host ends the cell, and here it is gone at once. */
  abandon(executionId: string): void {
    const entry = this.#entries.get(executionId);
    this.cancelNotifications(executionId);
    this.claim(executionId);
    this.close(executionId, entry?.cellId);
  }

  /** The session is over, and every cell with it. */
  closeAll(): void {
    const entries = [...this.#entries.values()];
    this.#entries.clear();
    for (const entry of entries) {
      this.#options.onRevoked(entry.executionId);
      entry.resolvers.resolve();
      this.#tell(entry);
    }
  }

  #finish(entry: Entry): void {
    if (entry.state !== "settled" || !entry.isClaimed) return;
    if (this.#entries.delete(entry.executionId)) this.#tell(entry);
  }

  #tell({ cellId, closedCellId }: Entry): void {
    const gone = cellId ?? closedCellId;
    if (gone !== undefined) this.#options.onCellClosed(gone);
  }
}
