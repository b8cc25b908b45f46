import type { CellOutput } from "../engine/cell-engine.ts";
import { itemBytes } from "../wire-size.ts";
import type { OutputBuffer, TakenOutput } from "./output-buffer.ts";

/** Stored beyond the size of a message, so that the outcome is certain to be refused. */
const SLACK_BYTES = 1024 * 1024;

/** Keeps every item; clients cut. What no message could carry is not stored. */
export class UnboundedOutput implements OutputBuffer {
  readonly #maxBytes: number;
  #items: CellOutput[] = [];
  #bytes = 0;

  /** @param maxMessageBytes bytes of one encoded message */
  constructor(maxMessageBytes: number) {
    this.#maxBytes = maxMessageBytes + SLACK_BYTES;
  }

  add(item: CellOutput): void {
    if (this.#bytes > this.#maxBytes) return;
    this.#bytes += itemBytes(item);
    if (this.#bytes > this.#maxBytes) this.#items = [];
    else this.#items.push(item);
  }

  take(): TakenOutput {
    const taken = { items: this.#items, isOverfull: this.#bytes > this.#maxBytes };
    this.#items = [];
    this.#bytes = 0;
    return taken;
  }

  fit(items: readonly CellOutput[]): readonly CellOutput[] {
    return items;
  }
}
