import { availableParallelism } from "node:os";
import { type Clock, type Logger, silentLogger, systemClock, TriviumError } from "@trivium/core";
import type { CellEngine, CellEngineStats, CellListener, CellProgram, RunningCell } from "./cell-engine.ts";
import { commandKind } from "./frame.ts";
import { DeathWatch } from "./pool/death-watch.ts";
import { RemoteCell } from "./pool/remote-cell.ts";
import { workerCommand } from "./pool/worker-command.ts";
import { WorkerPool } from "./pool/worker-pool.ts";
import { WorkerProcess } from "./pool/worker-process.ts";

const mebibyte = 1024 * 1024;
/** They travel in one frame. */
const maxProgramCharacters = 128 * mebibyte;

/** Settings of {@link createCellEngine}. */
export interface CellEngineOptions {
  /** `shared`: sessions share a few worker processes. `dedicated`: one process per session. Default `shared`. */
  readonly isolation?: "shared" | "dedicated";
  /** Worker processes at most, when shared. Default: the number of cores, at least 2 and at most 4. */
  readonly maxWorkers?: number;
  /** Cells that run or wait at the same time, in all. Default 512. */
  readonly maxLiveCells?: number;
  /** Heap limit of a cell that names none, in bytes. Default 512 MiB. */
  readonly defaultHeapLimitBytes?: number;
  /** Resident memory of a worker beyond the limits of its live cells, in bytes. Default 512 MiB. */
  readonly memoryHeadroomBytes?: number;
  /** Resident memory of a worker, whatever it runs, in bytes. Default 2 GiB. */
  readonly maxWorkerMemoryBytes?: number;
  /** Locale and time zone that programs see, as `LANG` and `TZ`. Default: `en-US` and UTC. */
  readonly environment?: { readonly LANG?: string; readonly TZ?: string };
  readonly clock?: Clock;
  readonly logger?: Logger;
}

/**
 * Starts an engine that runs cells in V8 isolates within worker processes. The caller disposes of it; that ends
 * every cell and every process.
 *
 * @throws {@link TriviumError} `unavailable` when this machine has no native library.
 */
export function createCellEngine(options: CellEngineOptions = {}): CellEngine {
  return new WorkerCellEngine(options);
}

class WorkerCellEngine implements CellEngine {
  readonly #pool: WorkerPool;
  readonly #deathWatch: DeathWatch;
  readonly #maxLiveCells: number;
  readonly #defaultHeapLimitBytes: number;
  #lastCellNumber = 0;
  #liveCells = 0;
  #isClosing = false;

  constructor(options: CellEngineOptions) {
    this.#maxLiveCells = options.maxLiveCells ?? 512;
    this.#defaultHeapLimitBytes = options.defaultHeapLimitBytes ?? 512 * mebibyte;
    const command = workerCommand(this.#defaultHeapLimitBytes);
    const { LANG, TZ } = options.environment ?? {};
    const environment = { ...(LANG !== undefined && { LANG }), ...(TZ !== undefined && { TZ }) };
    const logger = options.logger ?? silentLogger;
    const deathWatch = new DeathWatch(logger);
    this.#deathWatch = deathWatch;
    this.#pool = new WorkerPool({
      maxWorkers: options.maxWorkers ?? Math.min(4, Math.max(2, availableParallelism())),
      isDedicated: options.isolation === "dedicated",
      createWorker: (events) =>
        new WorkerProcess({
          command,
          environment,
          clock: options.clock ?? systemClock,
          logger,
          deathWatch,
          memoryBudget: {
            headroomBytes: options.memoryHeadroomBytes ?? 512 * mebibyte,
            maxBytes: options.maxWorkerMemoryBytes ?? 2048 * mebibyte,
          },
          ...events,
        }),
    });
  }

  start(program: CellProgram, listener: CellListener): RunningCell {
    if (this.#isClosing) throw new TriviumError("unavailable", "the cell engine is closing");
    if (this.#liveCells >= this.#maxLiveCells) {
      throw new TriviumError("resourceExhausted", `${this.#maxLiveCells} cells are live, which is the limit`);
    }
    if (sizeOf(program) > maxProgramCharacters) {
      throw new TriviumError(
        "resourceExhausted",
        `source and stored values of a cell are longer than ${maxProgramCharacters} characters`,
      );
    }
    this.#lastCellNumber += 1;
    this.#liveCells += 1;
    const identity = {
      number: this.#lastCellNumber,
      heapLimitBytes: program.heapLimitBytes ?? this.#defaultHeapLimitBytes,
      onEnd: () => {
        this.#liveCells -= 1;
      },
    };
    const cell = new RemoteCell(identity, program, listener);
    try {
      this.#pool.start(program.sessionKey, cell);
    } catch (thrown) {
      this.#liveCells -= 1;
      throw thrown;
    }
    return cell;
  }

  releaseSession(sessionKey: string): void {
    const worker = this.#pool.workerOf(sessionKey);
    worker?.send({ cell: 0, kind: commandKind.releaseSession, fields: [sessionKey] });
    this.#pool.releaseSession(sessionKey);
  }

  stats(): CellEngineStats {
    return {
      workers: this.#pool.workers,
      liveCells: this.#liveCells,
      workerRestarts: this.#pool.restarts,
    };
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#isClosing = true;
    await this.#pool.close();
    this.#deathWatch[Symbol.dispose]();
  }
}

function sizeOf({ source, stored }: CellProgram): number {
  let characters = source.length;
  for (const [key, json] of stored) characters += key.length + json.length;
  return characters;
}
