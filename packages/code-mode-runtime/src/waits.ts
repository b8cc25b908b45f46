import { TriviumError } from "@trivium/core";
import type { Cell } from "./cell/cell.ts";
import type { Observation } from "./cell/observation.ts";
import { RecentIds } from "./recent-ids.ts";

/** A Wait in progress. */
export interface ActiveWait {
  readonly cell: Cell;
  readonly observation: Observation;
}

/** The wait ids of a session: spent, in progress, and named by a CancelWait or YieldObservation that came first. */
export class Waits {
  readonly #spent: RecentIds;
  readonly #cancelledEarly: RecentIds;
  readonly #yieldedEarly: RecentIds;
  readonly #active = new Map<string, ActiveWait>();

  constructor(rememberedIds: number) {
    this.#spent = new RecentIds(rememberedIds);
    this.#cancelledEarly = new RecentIds(rememberedIds);
    this.#yieldedEarly = new RecentIds(rememberedIds);
  }

  /**
   * Spends an id. True when the Wait must yield at once.
   *
   * @throws {@link TriviumError} `alreadyExists` for a spent id, `cancelled` when CancelWait came first.
   */
  begin(waitId: string): boolean {
    if (this.#spent.has(waitId)) {
      throw new TriviumError("alreadyExists", `wait_id ${waitId} was already used in this session`);
    }
    this.#spent.add(waitId);
    const isYielded = this.#yieldedEarly.delete(waitId);
    if (this.#cancelledEarly.delete(waitId)) throw cancelledWait(waitId);
    return isYielded;
  }

  activate(waitId: string, wait: ActiveWait): void {
    this.#active.set(waitId, wait);
  }

  finish(waitId: string): void {
    this.#active.delete(waitId);
  }

  cancel(waitId: string): void {
    const wait = this.#active.get(waitId);
    if (wait !== undefined) wait.cell.retire(wait.observation, cancelledWait(waitId));
    else if (!this.#spent.has(waitId)) this.#cancelledEarly.add(waitId);
  }

  yield(waitId: string): void {
    const wait = this.#active.get(waitId);
    if (wait !== undefined) wait.cell.yieldObservation(wait.observation);
    else if (!this.#spent.has(waitId)) this.#yieldedEarly.add(waitId);
  }
}

function cancelledWait(waitId: string): TriviumError {
  return new TriviumError("cancelled", `wait ${waitId} was cancelled`);
}
