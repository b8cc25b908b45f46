import type ivm from "isolated-vm";
import { serviceRealmScript, userKitScript } from "../realm/realm-scripts.ts";
import type { CellSetup } from "../realm/realm-types.ts";
import type { IsolatedVm } from "./load-isolated-vm.ts";
import { MODULE_FILE_NAME } from "./module-source.ts";

const bytesPerMebibyte = 1024 * 1024;
/** Smaller limits are raised to this, so that a program can run at all. */
const minHeapMebibytes = 16;

/** Frames of the kit name no file. */
const kitOptions = { filename: "<anonymous>", result: { reference: true } } as const;

/** Why a task of an isolate did not come back normally. */
export type IsolateLoss = "memory" | "disposed";

/** Memory of an isolate, array buffers included. */
export interface IsolateMemory {
  /** Bytes of objects, garbage included. */
  readonly usedBytes: number;
  /** Bytes taken from the system. */
  readonly heldBytes: number;
}

/** References to the functions of the service realm. */
interface ServiceReferences {
  readonly begin: ivm.Reference;
  readonly fireTimer: ivm.Reference;
  readonly resolveTool: ivm.Reference;
  readonly rejectTool: ivm.Reference;
  readonly end: ivm.Reference;
}

/** How the service realm reaches the worker on behalf of one cell. */
export interface CellChannel {
  /** Does not wait. Order is kept, also with `postBlocking`. */
  readonly post: ivm.Callback;
  readonly postBlocking: ivm.Reference;
  readonly readStored: ivm.Callback;
  /** Why the value is refused, or undefined. */
  readonly store: ivm.Callback;
}

/** A user realm: its context and its kit. */
interface UserRealm {
  readonly context: ivm.Context;
  readonly kit: ivm.Reference;
}

/**
 * One V8 isolate with its service realm, and at most one prepared user realm.
 *
 * Nothing here takes the isolate's lock on the main thread: what a program leaves behind (the callback of a
 * FinalizationRegistry) runs as a task of V8's own, unseen, and whoever waits for it would hold up the whole worker.
 * So every entry settles only when the isolate is free, which may be never: callers dispose of it after a time.
 */
export class Isolate {
  /** As asked for; what the library enforces may be more. */
  readonly heapLimitBytes: number;
  /** Cells that have ended in it. */
  cellCount = 0;
  readonly #isolate: ivm.Isolate;
  readonly #service: ServiceReferences;
  #prepared: Promise<UserRealm> | undefined;
  #realm: UserRealm | undefined;
  #tasks = 0;
  #busySinceMs = 0;
  #isDisposed = false;
  #loss: IsolateLoss | undefined;
  readonly #idleWaiters: (() => void)[] = [];

  private constructor(isolate: ivm.Isolate, service: ServiceReferences, heapLimitBytes: number) {
    this.#isolate = isolate;
    this.#service = service;
    this.heapLimitBytes = heapLimitBytes;
  }

  /**
   * Makes an isolate with both realms, mostly off the main thread.
   *
   * @param heapLimitBytes small limits are raised to 16 MiB
   * @param onCatastrophe V8 has lost control of the isolate: the process must end
   */
  static async create(
    library: IsolatedVm,
    heapLimitBytes: number,
    onCatastrophe: (message: string) => void,
  ): Promise<Isolate> {
    const memoryLimit = Math.max(minHeapMebibytes, Math.ceil(heapLimitBytes / bytesPerMebibyte));
    const isolate = new library.Isolate({ memoryLimit, onCatastrophicError: onCatastrophe });
    const context = await isolate.createContext();
    const service = await context.evalClosure(serviceRealmScript, [], { result: { reference: true } });
    const get = (name: string): ivm.Reference => service.getSync(name, { reference: true });
    const references = {
      begin: get("begin"),
      fireTimer: get("fireTimer"),
      resolveTool: get("resolveTool"),
      rejectTool: get("rejectTool"),
      end: get("end"),
    };
    const result = new Isolate(isolate, references, heapLimitBytes);
    await result.prepare();
    return result;
  }

  /** No task of ours is in progress. */
  get isIdle(): boolean {
    return this.#tasks === 0;
  }

  /** Since when a task has been running without a pause, on the clock of `performance.now()`. */
  get busySinceMs(): number | undefined {
    return this.#tasks === 0 ? undefined : this.#busySinceMs;
  }

  get isDisposed(): boolean {
    return this.#isDisposed;
  }

  /** Set once the isolate is gone. */
  get loss(): IsolateLoss | undefined {
    return this.#loss;
  }

  /** Makes the next user realm, so that the next cell need not wait for it. */
  async prepare(): Promise<void> {
    if (this.#isDisposed) return;
    this.#prepared ??= this.#enter(async () => {
      const context = await this.#isolate.createContext();
      const kit = await context.evalClosure(userKitScript, [], kitOptions);
      return { context, kit };
    });
    await this.#prepared;
  }

  /** Makes the helpers of a cell in a fresh realm, which stays the current one until {@link endCell}. */
  async begin(channel: CellChannel, setup: CellSetup): Promise<void> {
    await this.prepare();
    const realm = await this.#prepared;
    if (realm === undefined) throw new Error("the isolate is disposed");
    this.#prepared = undefined;
    this.#realm = realm;
    const { post, postBlocking, readStored, store } = channel;
    const values = [post, postBlocking, readStored, store, realm.kit.derefInto(), JSON.stringify(setup)];
    await this.#enter(() => this.#service.begin.apply(undefined, values));
  }

  /** One at a time. The handle is released when no task runs, or kept until the isolate is gone. */
  compile(code: string, lineOffset: number): Promise<ivm.Module> {
    return this.#enter(() => this.#isolate.compileModule(code, { filename: MODULE_FILE_NAME, lineOffset }));
  }

  /** Binds a module without imports to the current realm. */
  async instantiate(module: ivm.Module): Promise<void> {
    const { context } = this.#current();
    await this.#enter(() =>
      module.instantiate(context, () => {
        throw new Error("a module with imports was not refused");
      }),
    );
  }

  /** Runs the module's first turn. Settles when its microtasks are drained. */
  evaluate(module: ivm.Module): Promise<void> {
    return this.#track(() => module.evaluate());
  }

  fireTimer(timerId: number): Promise<void> {
    return this.#track(() => this.#service.fireTimer.apply(undefined, [timerId]));
  }

  resolveTool(callNumber: number, json: string): Promise<void> {
    return this.#track(() => this.#service.resolveTool.apply(undefined, [callNumber, json]));
  }

  rejectTool(callNumber: number, message: string): Promise<void> {
    return this.#track(() => this.#service.rejectTool.apply(undefined, [callNumber, message]));
  }

  /** Lets go of the cell that ended; the isolate can serve another. */
  async endCell(): Promise<void> {
    const realm = this.#realm;
    if (realm === undefined) return;
    this.#realm = undefined;
    await this.#enter(() => this.#service.end.apply(undefined, []));
    realm.kit.release();
    realm.context.release();
    this.cellCount += 1;
  }

  /** What it holds now. Infinite when it cannot tell, which means that it is of no further use. */
  async memory(): Promise<IsolateMemory> {
    try {
      const statistics = await this.#enter(() => this.#isolate.getHeapStatistics());
      const external = statistics.externally_allocated_size;
      return {
        usedBytes: statistics.used_heap_size + external,
        heldBytes: statistics.total_heap_size + external,
      };
    } catch {
      return { usedBytes: Number.POSITIVE_INFINITY, heldBytes: Number.POSITIVE_INFINITY };
    }
  }

  /** Settles when no task runs. May never happen: some built-ins cannot be interrupted. */
  whenIdle(): Promise<void> {
    if (this.#tasks === 0) return Promise.resolve();
    return new Promise((resolve) => {
      this.#idleWaiters.push(resolve);
    });
  }

  /** Returns at once; a running task ends soon after, or late. */
  dispose(): void {
    if (this.#isDisposed) return;
    this.#isDisposed = true;
    this.#loss ??= "disposed";
    this.#prepared = undefined;
    this.#realm = undefined;
    if (!this.#isolate.isDisposed) this.#isolate.dispose();
  }

  /**
   * Starts a task of the program and waits for it. Its failure says nothing, since any unhandled rejection of the
   * program makes it fail; {@link loss} tells whether the isolate is gone.
   */
  async #track(task: () => Promise<unknown>): Promise<void> {
    try {
      await this.#enter(task);
    } catch {
      // See above.
    }
  }

  async #enter<Result>(task: () => Promise<Result>): Promise<Result> {
    this.#taskStarted();
    try {
      return await task();
    } catch (error) {
      if (this.#isolate.isDisposed && !this.#isDisposed) {
        // The library's text is the only sign of why.
        this.#loss = error instanceof Error && error.message.includes("memory limit") ? "memory" : "disposed";
        this.dispose();
      }
      throw error;
    } finally {
      this.#taskEnded();
    }
  }

  #current(): UserRealm {
    if (this.#realm === undefined) throw new Error("the isolate has no cell");
    return this.#realm;
  }

  #taskStarted(): void {
    if (this.#tasks === 0) this.#busySinceMs = performance.now();
    this.#tasks += 1;
  }

  #taskEnded(): void {
    this.#tasks -= 1;
    if (this.#tasks === 0) for (const resolve of this.#idleWaiters.splice(0)) resolve();
  }
}
