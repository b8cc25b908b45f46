import type { CellEnd } from "../cell-engine.ts";
import { LOST_TEXT } from "../loss-texts.ts";
import type { Isolate } from "./isolate.ts";
import { IsolatePool } from "./isolate-pool.ts";
import { IsolatedScript, type IsolateFate, needsOwnIsolate } from "./isolated-script.ts";
import type { IsolatedVm } from "./load-isolated-vm.ts";
import type { RunningScript, ScriptEvents, ScriptProgram, ScriptRuntime } from "./script-runtime.ts";

/** How long a disposed isolate may keep its thread before it counts as stuck. */
const stuckAfterMs = 1_000;

/** What the worker wants to know of its isolates. */
export interface IsolateWatcher {
  /** Threads that do not come back from a built-in; called when the number changes. */
  stuckThreads(count: number): void;
  /** V8 has lost control of an isolate: the process is of no use. */
  catastrophe(message: string): void;
}

/** Runs programs with isolated-vm: one isolate per running cell. */
export class IsolatedVmRuntime implements ScriptRuntime {
  readonly #library: IsolatedVm;
  readonly #pool: IsolatePool;
  readonly #watcher: IsolateWatcher;
  readonly #scripts = new Set<IsolatedScript>();
  #stuck = 0;

  private constructor(library: IsolatedVm, defaultHeapLimitBytes: number, watcher: IsolateWatcher) {
    this.#library = library;
    this.#watcher = watcher;
    this.#pool = new IsolatePool(library, defaultHeapLimitBytes, {
      onCatastrophe: (message) => watcher.catastrophe(message),
      dispose: (isolate) => this.#dispose(isolate),
    });
  }

  /** @throws when this process cannot make isolates. */
  static async create(
    library: IsolatedVm,
    defaultHeapLimitBytes: number,
    watcher: IsolateWatcher,
  ): Promise<IsolatedVmRuntime> {
    const runtime = new IsolatedVmRuntime(library, defaultHeapLimitBytes, watcher);
    await runtime.#exercise(defaultHeapLimitBytes);
    await runtime.#pool.warmUp();
    return runtime;
  }

  run(program: ScriptProgram, events: ScriptEvents): RunningScript {
    const { sessionKey, source, heapLimitBytes } = program;
    let script: IsolatedScript | undefined;
    let isOver = false;
    const endEarly = (end: CellEnd): void => {
      if (isOver) return;
      isOver = true;
      events.ended(end);
    };
    void this.#pool.take(sessionKey, heapLimitBytes, needsOwnIsolate(source)).then(
      (isolate) => {
        if (isOver) this.#pool.giveBack(sessionKey, isolate);
        else {
          script = this.#start(isolate, program, events);
        }
      },
      () => endEarly({ type: "lost", errorText: LOST_TEXT }),
    );
    return {
      resolveTool: (callNumber, json) => script?.resolveTool(callNumber, json),
      rejectTool: (callNumber, message) => script?.rejectTool(callNumber, message),
      terminate: () => {
        if (script === undefined) endEarly({ type: "terminated" });
        else script.terminate();
      },
    };
  }

  relieve(): void {
    let longest: IsolatedScript | undefined;
    for (const script of this.#scripts) {
      if (script.busySinceMs === undefined) continue;
      if (longest?.busySinceMs === undefined || script.busySinceMs < longest.busySinceMs) longest = script;
    }
    longest?.runOutOfMemory();
  }

  releaseSession(sessionKey: string): void {
    this.#pool.releaseSession(sessionKey);
  }

  /** Runs a program that does nothing, so that the first real one does not pay for whatever runs for the first time. */
  async #exercise(heapLimitBytes: number): Promise<void> {
    const ended = Promise.withResolvers<void>();
    const program = {
      sessionKey: "",
      source: "text(1)",
      heapLimitBytes,
      tools: [],
      stored: new Map<string, string>(),
    };
    this.run(program, {
      ready: () => {},
      action: () => {},
      ended: () => ended.resolve(),
      room: () => undefined,
    });
    await ended.promise;
    this.releaseSession(program.sessionKey);
  }

  #start(isolate: Isolate, program: ScriptProgram, events: ScriptEvents): IsolatedScript {
    const release = (released: Isolate, fate: IsolateFate): void => {
      this.#scripts.delete(script);
      if (fate === "reuse") this.#pool.giveBack(program.sessionKey, released);
      else this.#dispose(released);
    };
    const script = new IsolatedScript({ library: this.#library, isolate, release }, program, events);
    this.#scripts.add(script);
    void script.start();
    return script;
  }

  #dispose(isolate: Isolate): void {
    isolate.dispose();
    if (isolate.isIdle) return;
    let isStuck = false;
    const timer = setTimeout(() => {
      isStuck = true;
      this.#countStuck(1);
    }, stuckAfterMs);
    void isolate.whenIdle().then(() => {
      clearTimeout(timer);
      if (isStuck) this.#countStuck(-1);
    });
  }

  #countStuck(change: number): void {
    this.#stuck += change;
    this.#watcher.stuckThreads(this.#stuck);
  }
}
