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
  #stuck = 0;

  constructor(library: IsolatedVm, defaultHeapLimitBytes: number, watcher: IsolateWatcher) {
    this.#library = library;
    this.#watcher = watcher;
    this.#pool = new IsolatePool(library, defaultHeapLimitBytes, (message) => watcher.catastrophe(message));
  }

  run(program: ScriptProgram, events: ScriptEvents): RunningScript {
    const isolate = this.#pool.take(
      program.sessionKey,
      program.heapLimitBytes,
      needsOwnIsolate(program.source),
    );
    const release = (released: Isolate, fate: IsolateFate): void => {
      if (fate === "reuse") this.#pool.giveBack(program.sessionKey, released);
      else this.#dispose(released);
    };
    const script = new IsolatedScript({ library: this.#library, isolate, release }, program, events);
    queueMicrotask(() => void script.start());
    return script;
  }

  releaseSession(sessionKey: string): void {
    this.#pool.releaseSession(sessionKey);
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
