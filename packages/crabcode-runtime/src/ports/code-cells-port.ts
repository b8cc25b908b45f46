/** A program for a cell, split from the options of its first line. */
export interface CellSource {
  readonly code: string;
  readonly yieldTimeMs?: number;
  readonly maxOutputTokens?: number;
}

/** A tool as programs see it. */
export interface CellToolDefinition {
  readonly name: string;
  readonly description: string;
  /** JSON Schema of type `object`. */
  readonly inputSchema: Readonly<Record<string, unknown>>;
  /** JSON Schema of what a call resolves to. */
  readonly outputSchema: Readonly<Record<string, unknown>>;
}

/** A call that a program makes. */
export interface CellToolCall {
  readonly cellId: string;
  /** `tool-1`, `tool-2`, … in the order of the program's calls. */
  readonly toolCallId: string;
  readonly name: string;
  /** Absent when the program gave no argument; any JSON value otherwise. */
  readonly input?: unknown;
  /** Aborts when nobody waits for the result any more: the program has ended, or its session has. */
  readonly signal: AbortSignal;
}

/** What a program gets for a call: a value, or the text its promise rejects with. */
export type CellToolAnswer = { readonly value: unknown } | { readonly problem: string };

/** What a session tells its owner. */
export interface CellEvents {
  /** A call of a program. Calls come in the order in which they were made; never rejects. */
  called(call: CellToolCall): Promise<CellToolAnswer>;
  /** `notify(text)` ran. */
  notified(cellId: string, text: string): void;
}

/** A piece of a program's output, cut to the budget of the observation. */
export type CellOutputItem =
  | { readonly type: "text"; readonly text: string }
  /** `data:` URL. */
  | { readonly type: "image" | "audio"; readonly url: string };

/** What one look at a cell brought. */
export interface CellObservation {
  /**
   * `running`: the program goes on; `completed`: it has ended well; `failed`: it has thrown, or there is no such cell;
   * `terminated`: it was ended; `lost`: the worker of the session died, and with it everything the session had.
   */
  readonly state: "running" | "completed" | "failed" | "terminated" | "lost";
  /** Output since the last look. The error of a failed program is the last of it. */
  readonly items: readonly CellOutputItem[];
  /** Time the look took. */
  readonly durationMs: number;
}

/** A look at a cell that goes on until the program ends, hands over by itself, or somebody ends the look. */
export interface CellLook {
  readonly cellId: string;
  /** @throws TriviumError when the session ends first */
  readonly observation: Promise<CellObservation>;
  /** Ends the look now, with what there is. Harmless when it has ended. */
  end(): void;
}

/** Programs that share stored values. */
export interface CellSession extends AsyncDisposable {
  /** Starts a program and looks at it. @throws TriviumError when this server runs too many cells */
  start(program: {
    readonly code: string;
    readonly tools: readonly CellToolDefinition[];
    /** Budget of the output of this look, about four bytes a token. */
    readonly maxOutputTokens: number;
  }): CellLook;
  look(cellId: string, options: { readonly maxOutputTokens: number }): CellLook;
  /** Ends a program by force. An ended one gives its last output; calls it has open are aborted. */
  terminate(cellId: string, options: { readonly maxOutputTokens: number }): Promise<CellObservation>;
}

/** Port for code cells: JavaScript programs in isolated workers, whose only way out are the calls they make. */
export interface CodeCellsPort {
  /** @throws TriviumError `invalidInput` with a message for a model */
  readSource(source: string): CellSource;
  /** Opens a session that nobody else can reach. @param heapBytes limit of one program */
  openSession(events: CellEvents, options: { readonly heapBytes: number }): CellSession;
}
