import type {
  CellEnd,
  CellEngine,
  CellListener,
  CellOutput,
  CellProgram,
  CellTool,
  RunningCell,
} from "../cell-engine.ts";

/** What a cell did, as its listener was told. */
export interface CellRecord {
  /** Every call of the listener in order, in a short form. */
  readonly events: readonly string[];
  /** Texts of the text items. */
  readonly texts: readonly string[];
  readonly outputs: readonly CellOutput[];
  readonly end: CellEnd;
}

/** A started cell whose listener records. */
export interface RecordedCell {
  readonly cell: RunningCell;
  readonly ready: Promise<void>;
  /** Settles at the end. */
  readonly done: Promise<CellRecord>;
  /** Settles when so many outputs have come. */
  outputs(count: number): Promise<void>;
}

/** A function tool with the given name. */
export function tool(name: string): CellTool {
  return { name, toolName: name, namespace: undefined, description: `about ${name}`, kind: "function" };
}

type ToolCalled = Parameters<CellListener["toolCalled"]>[0];

/** Starts a cell; tool calls are answered with their own input unless `onTool` says otherwise. */
export function startCell(
  engine: CellEngine,
  program: Partial<CellProgram> & { readonly source: string },
  onTool?: (call: ToolCalled, cell: RunningCell) => void,
): RecordedCell {
  const events: string[] = [];
  const outputs: CellOutput[] = [];
  const ready = Promise.withResolvers<void>();
  const done = Promise.withResolvers<CellRecord>();
  const waiters: { count: number; resolve: () => void }[] = [];
  const cell = engine.start(
    { sessionKey: "session", tools: [], stored: new Map(), ...program },
    {
      ready() {
        events.push("ready");
        ready.resolve();
      },
      output(item) {
        events.push(item.type === "text" ? `text ${item.text}` : item.type);
        outputs.push(item);
        for (const waiter of waiters) if (outputs.length >= waiter.count) waiter.resolve();
      },
      yieldRequested: () => events.push("yield"),
      stored: (key, json) => events.push(`store ${key} ${json}`),
      notified: (text) => events.push(`notify ${text}`),
      toolCalled(call) {
        events.push(`${call.toolCallId} ${call.tool.name} ${call.inputJson ?? "(none)"}`);
        if (onTool === undefined) cell.resolveTool(call.toolCallId, call.inputJson ?? "null");
        else onTool(call, cell);
      },
      ended(end) {
        events.push(end.type);
        const texts = outputs.flatMap((item) => (item.type === "text" ? [item.text] : []));
        done.resolve({ events, texts, outputs, end });
      },
    },
  );
  return {
    cell,
    ready: ready.promise,
    done: done.promise,
    outputs(count) {
      const { promise, resolve } = Promise.withResolvers<void>();
      if (outputs.length >= count) resolve();
      else waiters.push({ count, resolve });
      return promise;
    },
  };
}

/** Runs a cell to its end. */
export function runCell(
  engine: CellEngine,
  program: Partial<CellProgram> & { readonly source: string },
  onTool?: (call: ToolCalled, cell: RunningCell) => void,
): Promise<CellRecord> {
  return startCell(engine, program, onTool).done;
}
