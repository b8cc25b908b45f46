import type { CellOutput } from "../engine/cell-engine.ts";
import { itemBytes } from "../wire-size.ts";
import type { OutputBuffer, TakenOutput } from "./output-buffer.ts";
import { RetainedOutput } from "./retained-output.ts";

/** Output beyond this is reduced: what is left then surely fits in a message. */
const REDUCE_FROM_BYTES = 48 * 1024 * 1024;

/** Keeps every item as long as they fit in a message, and their head and tail afterwards. No token budget. */
export class OversizedOutput implements OutputBuffer {
  #items: CellOutput[] = [];
  #bytes = 0;
  #reduced: RetainedOutput | undefined;

  add(item: CellOutput): void {
    if (this.#reduced !== undefined) {
      this.#reduced.add(item);
      return;
    }
    this.#items.push(item);
    this.#bytes += itemBytes(item);
    if (this.#bytes <= REDUCE_FROM_BYTES) return;
    this.#reduced = new RetainedOutput();
    for (const kept of this.#items.splice(0)) this.#reduced.add(kept);
  }

  take(): TakenOutput {
    const taken = this.#reduced?.take(undefined) ?? { items: this.#items, isOverfull: false };
    this.#items = [];
    this.#bytes = 0;
    this.#reduced = undefined;
    return taken;
  }

  fit(items: readonly CellOutput[]): readonly CellOutput[] {
    return items;
  }
}
