import type ivm from "isolated-vm";
import type { CellEnd } from "../cell-engine.ts";
import { LOST_TEXT, OUT_OF_MEMORY_TEXT } from "../loss-texts.ts";
import type { Primitive } from "../realm/realm-types.ts";
import { MAX_STORED_BYTES } from "../stored-bytes.ts";
import type { Isolate } from "./isolate.ts";
import type { IsolatedVm } from "./load-isolated-vm.ts";
import { type ModuleSource, wrapModule, wrapSimpleModule } from "./module-source.ts";
import type { RunningScript, ScriptEvents, ScriptProgram } from "./script-runtime.ts";
import { ScriptTimers } from "./script-timers.ts";
import { StoredBudget } from "./stored-budget.ts";
import { toScriptAction } from "./to-script-action.ts";

/** How long microtasks may go on after the module has settled, before the cell is ended without them. */
const drainGraceMs = 1_000;
/** A longer text would harm the server, whose messages end at 64 MiB: the program counts as out of memory. */
const maxMessageCharacters = 96 * 1024 * 1024;
/** Longer sources get an isolate for themselves: their compilation may take seconds, and is not timed. */
const maxTimedCharacters = 8 * 1024;
/** How long what an earlier program left in the isolate may keep this one from starting. */
const startMs = 5_000;

/** What becomes of the isolate when its cell has ended. */
export type IsolateFate = "reuse" | "dispose";

/** One program in one isolate, from its compilation to its end. */
export class IsolatedScript implements RunningScript {
  readonly #library: IsolatedVm;
  readonly #isolate: Isolate;
  readonly #program: ScriptProgram;
  readonly #events: ScriptEvents;
  readonly #release: (isolate: Isolate, fate: IsolateFate) => void;
  readonly #timers: ScriptTimers;
  readonly #modules: ivm.Module[] = [];
  readonly #budget: StoredBudget;
  /** Large sources, and those that read `import.meta`: their module handles must outlive the isolate. */
  readonly #isSingleUse: boolean;
  #hasCompiled = false;
  #hasEnded = false;
  #settled: { errorText: string | undefined } | undefined;
  #drainTimer: NodeJS.Timeout | undefined;

  constructor(
    context: {
      readonly library: IsolatedVm;
      readonly isolate: Isolate;
      /** Called once, when the program has ended and nothing of it runs, or to dispose of the isolate. */
      readonly release: (isolate: Isolate, fate: IsolateFate) => void;
    },
    program: ScriptProgram,
    events: ScriptEvents,
  ) {
    this.#library = context.library;
    this.#isolate = context.isolate;
    this.#release = context.release;
    this.#program = program;
    this.#events = events;
    this.#isSingleUse = needsOwnIsolate(program.source);
    this.#budget = new StoredBudget(program.stored);
    this.#timers = new ScriptTimers((timerId) => void this.#run(this.#isolate.fireTimer(timerId)));
  }

  /** Compiles and runs the program. Settles when its first turn is over. */
  async start(): Promise<void> {
    const timer = this.#isSingleUse
      ? undefined
      : setTimeout(() => this.#finish({ type: "lost", errorText: LOST_TEXT }), startMs);
    let firstTurn: Promise<void> | undefined;
    try {
      const module = await this.#load();
      if (module === undefined || this.#hasEnded) return;
      this.#events.ready();
      // Both are queued at once: the isolate's thread does one after the other without a way back in between.
      const linked = this.#isolate.instantiate(module);
      firstTurn = this.#isolate.evaluate(module);
      await linked;
    } catch (error) {
      this.#fail(error);
      return;
    } finally {
      clearTimeout(timer);
    }
    await this.#run(firstTurn);
  }

  /** Compiles the program and makes its realm. Undefined when it has ended meanwhile. */
  async #load(): Promise<ivm.Module | undefined> {
    const { source } = this.#program;
    const compiling = this.#compile(source.startsWith("#!") ? `//${source.slice(2)}` : source, 0);
    // Most programs need no look at their syntax: all that is left to do is queued behind the first compilation.
    const simple = wrapSimpleModule(source);
    const ahead = simple === undefined ? undefined : this.#prepare(simple);
    let plain: ivm.Module;
    try {
      plain = await compiling;
    } finally {
      // Whatever the first compilation says: the isolate must be free before it can serve the next cell.
      await Promise.allSettled([ahead]);
    }
    if (this.#hasEnded) return undefined;
    const [specifier] = plain.dependencySpecifiers;
    if (specifier !== undefined) {
      this.#finish({ type: "completed", errorText: `Unsupported import in exec: ${specifier}` });
      return undefined;
    }
    const prepared = ahead ?? wrapModule(source).then((wrapped) => this.#prepare(wrapped));
    const module = await prepared;
    if (this.#hasEnded) return undefined;
    this.#hasCompiled = true;
    return module;
  }

  /** Compiles a wrapped program and makes the helpers of its realm. */
  async #prepare(wrapped: ModuleSource): Promise<ivm.Module | undefined> {
    if (this.#hasEnded) return undefined;
    const [module] = await Promise.all([this.#compile(wrapped.code, -1), this.#begin(wrapped)]);
    return module;
  }

  resolveTool(callNumber: number, json: string): void {
    if (!this.#hasEnded) void this.#run(this.#isolate.resolveTool(callNumber, json));
  }

  rejectTool(callNumber: number, message: string): void {
    if (!this.#hasEnded) void this.#run(this.#isolate.rejectTool(callNumber, message));
  }

  terminate(): void {
    this.#finish({ type: "terminated" });
  }

  /** Since when it has been computing, or undefined while it waits. */
  get busySinceMs(): number | undefined {
    return this.#isolate.busySinceMs;
  }

  /** Ends it because the process holds too much memory. */
  runOutOfMemory(): void {
    this.#finish({ type: "lost", errorText: OUT_OF_MEMORY_TEXT });
  }

  async #compile(code: string, lineOffset: number): Promise<ivm.Module> {
    const module = await this.#isolate.compile(code, lineOffset);
    this.#modules.push(module);
    return module;
  }

  async #begin(wrapped: ModuleSource): Promise<void> {
    const { Callback, Reference } = this.#library;
    const post = (kind: string, ...values: Primitive[]): void => this.#take(kind, values);
    const postBlocking = (kind: string, ...values: Primitive[]): Promise<void> | undefined => {
      this.#take(kind, values);
      return this.#hasEnded ? undefined : this.#untilRoom();
    };
    const readStored = (key: string): string | undefined => this.#program.stored.get(key);
    await this.#isolate.begin(
      {
        post: new Callback(post, { ignored: true }),
        postBlocking: new Reference(postBlocking),
        readStored: new Callback(readStored, { sync: true }),
        store: new Callback((key: string, json: string) => this.#store(key, json), { sync: true }),
      },
      { doneName: wrapped.doneName, importName: wrapped.importName, tools: this.#program.tools },
    );
  }

  #store(key: string, json: string): string | undefined {
    if (this.#hasEnded) return undefined;
    if (!this.#budget.admit(key, json)) {
      return `store has no room for the key ${JSON.stringify(key)}: stored values take at most ${MAX_STORED_BYTES} bytes`;
    }
    this.#take("store", [key, json]);
    return undefined;
  }

  /**
   * Holds the program's thread until the output has room. It must never settle after the isolate's disposal: the
   * library would then touch the state of a call that is gone.
   */
  #untilRoom(): Promise<void> | undefined {
    const room = this.#events.room();
    if (room === undefined) return undefined;
    return new Promise((resolve) => {
      void room.then(() => {
        if (!this.#hasEnded) resolve();
      });
    });
  }

  /** One message of the program. Its side of the channel stays in closures of the service realm. */
  #take(kind: string, values: readonly Primitive[]): void {
    if (this.#hasEnded) return;
    if (values.some((value) => typeof value === "string" && value.length > maxMessageCharacters)) {
      this.runOutOfMemory();
      return;
    }
    const [first, second] = values;
    switch (kind) {
      case "timer":
        this.#timers.set(Number(first), Number(second));
        return;
      case "clear-timer":
        this.#timers.clear(Number(first));
        return;
      case "exit":
        this.#finish({ type: "completed", errorText: undefined });
        return;
      case "done":
        this.#settle(typeof first === "string" ? first : undefined);
        return;
      default:
        this.#events.action(toScriptAction(kind, values));
    }
  }

  /** The module, or a timer's exception, has decided the outcome; microtasks of the same turn may still act. */
  #settle(errorText: string | undefined): void {
    if (this.#settled !== undefined) return;
    this.#settled = { errorText };
    this.#drainTimer = setTimeout(() => {
      this.#finish({ type: "completed", errorText });
    }, drainGraceMs);
  }

  async #run(task: Promise<void>): Promise<void> {
    await task;
    if (this.#hasEnded) return;
    const { loss } = this.#isolate;
    if (loss === "memory") this.runOutOfMemory();
    else if (loss !== undefined) this.#finish({ type: "lost", errorText: LOST_TEXT });
    else if (this.#settled !== undefined) await this.#complete(this.#settled.errorText);
  }

  async #complete(errorText: string | undefined): Promise<void> {
    const isBufferRefused = errorText?.startsWith("RangeError: Array buffer allocation failed") === true;
    if (isBufferRefused && this.#isolate.isIdle) {
      // Array buffers count, but V8 refuses them with an ordinary error instead of ending the isolate.
      const { usedBytes } = await this.#isolate.memory();
      if (usedBytes > this.#isolate.heapLimitBytes / 2) {
        this.runOutOfMemory();
        return;
      }
    }
    this.#finish({ type: "completed", errorText });
  }

  /** A program that does not compile, or an isolate that broke while it was prepared. */
  #fail(error: unknown): void {
    if (this.#hasEnded) return;
    if (!this.#hasCompiled && error instanceof Error && !this.#isolate.isDisposed) {
      const message = error.message.replace(/ \[exec_main\.mjs:\d+:\d+\]$/, "");
      this.#finish({ type: "completed", errorText: `${error.name}: ${message}` });
      return;
    }
    if (this.#isolate.loss === "memory") this.runOutOfMemory();
    else this.#finish({ type: "lost", errorText: LOST_TEXT });
  }

  #finish(end: CellEnd): void {
    if (this.#hasEnded) return;
    this.#hasEnded = true;
    clearTimeout(this.#drainTimer);
    this.#timers.clearAll();
    const canReuse = end.type === "completed" && !this.#isSingleUse && this.#isolate.isIdle;
    this.#events.ended(end);
    if (canReuse) {
      for (const module of this.#modules.splice(0)) module.release();
      this.#release(this.#isolate, "reuse");
      return;
    }
    this.#release(this.#isolate, "dispose");
    // Handles of modules must not be collected before their isolate is gone.
    this.#modules.length = 0;
  }
}

/** True for sources that take long to compile, or whose module handles cannot be released while the isolate lives. */
export function needsOwnIsolate(source: string): boolean {
  return source.length > maxTimedCharacters || /\bimport\s*\.\s*meta\b/.test(source);
}
