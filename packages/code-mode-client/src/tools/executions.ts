import { type ToolDefinition, toolKey } from "./tool-definition.ts";

/** A program that was sent to the host. */
export interface Execution {
  readonly executionId: string;
  /** Keys of the tools it may call. */
  readonly tools: ReadonlySet<string>;
  cellId: string | undefined;
  /** Settles when the cell is gone and the handlers of its notifications have finished. */
  readonly settled: Promise<void>;
}

interface Entry extends Execution {
  readonly resolvers: PromiseWithResolvers<void>;
  readonly notifications: Set<Promise<void>>;
  isClosed: boolean;
}

/** The programs of a session that are not gone. They are known before the host has answered. */
export class Executions {
  readonly #entries = new Map<string, Entry>();
  readonly #onCellClosed: (cellId: string) => void;

  /** @param onCellClosed does not throw */
  constructor(onCellClosed: (cellId: string) => void) {
    this.#onCellClosed = onCellClosed;
  }

  begin(executionId: string, tools: readonly ToolDefinition[]): Execution {
    const resolvers = Promise.withResolvers<void>();
    const entry: Entry = {
      executionId,
      tools: new Set(tools.map(toolKey)),
      cellId: undefined,
      settled: resolvers.promise,
      resolvers,
      notifications: new Set(),
      isClosed: false,
    };
    this.#entries.set(executionId, entry);
    return entry;
  }

  /** One whose cell is not gone. */
  get(executionId: string): Execution | undefined {
    const entry = this.#entries.get(executionId);
    return entry?.isClosed === false ? entry : undefined;
  }

  /** The program of a cell, until it is gone and the handlers of its notifications have finished. */
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
    if (entry === undefined || entry.isClosed) return;
    entry.isClosed = true;
    void Promise.allSettled(entry.notifications).then(() => {
      this.#entries.delete(executionId);
      entry.resolvers.resolve();
    });
    if (cellId !== undefined) this.#onCellClosed(cellId);
  }

  /** The session is over, and every cell with it. */
  closeAll(): void {
    for (const { executionId, cellId } of this.#entries.values()) this.close(executionId, cellId);
  }
}
