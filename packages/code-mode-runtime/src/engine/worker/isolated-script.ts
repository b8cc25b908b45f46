import type ivm from "isolated-vm";
import type { CellEnd } from "../cell-engine.ts";
import { LOST_TEXT, OUT_OF_MEMORY_TEXT } from "../loss-texts.ts";
import type { Primitive } from "../realm/realm-types.ts";
import type { Isolate, UserRealm } from "./isolate.ts";
import type { IsolatedVm } from "./load-isolated-vm.ts";
import { type ModuleSource, wrapModule } from "./module-source.ts";
import type { RunningScript, ScriptEvents, ScriptProgram } from "./script-runtime.ts";
import { ScriptTimers } from "./script-timers.ts";
import { toScriptAction } from "./to-script-action.ts";

/** How long microtasks may go on after the module has settled, before the cell is ended without them. */
const drainGraceMs = 1_000;
/** A longer text would harm the server, whose messages end at 64 MiB: the program counts as out of memory. */
const maxMessageCharacters = 96 * 1024 * 1024;
/** Longer sources are compiled off the main thread, which must stay responsive. */
const maxSyncCompileCharacters = 64 * 1024;

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
  /** Large sources, and those that read `import.meta`: their module handles must outlive the isolate. */
  readonly #isSingleUse: boolean;
  #realm: UserRealm | undefined;
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
    this.#timers = new ScriptTimers((timerId) => void this.#run(this.#isolate.fireTimer(timerId)));
  }

  /** Compiles and runs the program. Settles when its first turn is over. */
  async start(): Promise<void> {
    const { source } = this.#program;
    try {
      const plain = await this.#compile(source.startsWith("#!") ? `//${source.slice(2)}` : source, 0);
      if (this.#hasEnded) return;
      const [specifier] = plain.dependencySpecifiers;
      if (specifier !== undefined) {
        this.#finish({ type: "completed", errorText: `Unsupported import in exec: ${specifier}` });
        return;
      }
      const wrapped = await wrapModule(source);
      if (this.#hasEnded) return;
      const module = await this.#compile(wrapped.code, -1);
      if (this.#hasEnded) return;
      const realm = this.#isolate.takeRealm();
      this.#realm = realm;
      this.#begin(realm, wrapped);
      module.instantiateSync(realm.context, () => {
        throw new Error("a program imports nothing");
      });
      this.#events.ready();
      await this.#run(this.#isolate.evaluate(module));
    } catch (error) {
      this.#fail(error);
    }
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
    const module =
      code.length > maxSyncCompileCharacters
        ? await this.#isolate.compileLarge(code, lineOffset)
        : this.#isolate.compile(code, lineOffset);
    this.#modules.push(module);
    return module;
  }

  #begin(realm: UserRealm, wrapped: ModuleSource): void {
    const { Callback, Reference } = this.#library;
    const post = (kind: string, ...values: Primitive[]): void => this.#take(kind, values);
    const postBlocking = (kind: string, ...values: Primitive[]): Promise<void> | undefined => {
      this.#take(kind, values);
      return this.#hasEnded ? undefined : this.#untilRoom();
    };
    const readStored = (key: string): string | undefined => this.#program.stored.get(key);
    this.#isolate.begin(
      realm,
      {
        post: new Callback(post, { ignored: true }),
        postBlocking: new Reference(postBlocking),
        readStored: new Callback(readStored, { sync: true }),
      },
      { doneName: wrapped.doneName, importName: wrapped.importName, tools: this.#program.tools },
    );
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
    else if (this.#settled !== undefined) this.#complete(this.#settled.errorText);
  }

  #complete(errorText: string | undefined): void {
    const isBufferRefused = errorText?.startsWith("RangeError: Array buffer allocation failed") === true;
    if (isBufferRefused && this.#isolate.isIdle) {
      // Array buffers count, but V8 refuses them with an ordinary error instead of ending the isolate.
      if (this.#isolate.memory().usedBytes > this.#isolate.heapLimitBytes / 2) {
        this.runOutOfMemory();
        return;
      }
    }
    this.#finish({ type: "completed", errorText });
  }

  /** A program that does not compile, or an isolate that broke while it was prepared. */
  #fail(error: unknown): void {
    if (this.#hasEnded) return;
    if (this.#realm === undefined && error instanceof Error && !this.#isolate.isDisposed) {
      const message = error.message.replace(/ \[exec_main\.mjs:\d+:\d+\]$/, "");
      this.#finish({ type: "completed", errorText: `${error.name}: ${message}` });
      return;
    }
    this.#finish({ type: "lost", errorText: LOST_TEXT });
  }

  #finish(end: CellEnd): void {
    if (this.#hasEnded) return;
    this.#hasEnded = true;
    clearTimeout(this.#drainTimer);
    this.#timers.clearAll();
    const canReuse = end.type === "completed" && !this.#isSingleUse && this.#isolate.isIdle;
    this.#events.ended(end);
    if (canReuse && this.#leaveClean()) this.#release(this.#isolate, "reuse");
    else {
      this.#release(this.#isolate, "dispose");
      // Handles of modules must not be collected before their isolate is gone.
      this.#modules.length = 0;
    }
  }

  #leaveClean(): boolean {
    try {
      for (const module of this.#modules.splice(0)) module.release();
      if (this.#realm !== undefined) this.#isolate.endCell(this.#realm);
      return true;
    } catch {
      // Out of memory, most likely: the isolate is given up.
      return false;
    }
  }
}

/** True for sources whose module handles cannot be released while the isolate lives. */
export function needsOwnIsolate(source: string): boolean {
  return source.length > maxSyncCompileCharacters - 1024 || /\bimport\s*\.\s*meta\b/.test(source);
}
