import { StaleGenerationError } from "./stale-generation-error.ts";

/** The names that the cells of one host session have outside: those of the first keep the host's. */
export class Generation {
  readonly number: number;
  readonly #prefix: string;

  constructor(number: number) {
    this.number = number;
    this.#prefix = number === 1 ? "" : `g${number}:`;
  }

  /** A cell id of the host as callers see it. */
  expose(cellId: string): string {
    return this.#prefix + cellId;
  }

  /**
   * The host's id of a cell.
   *
   * @throws {@link StaleGenerationError} for a cell of another generation.
   */
  strip(cellId: string): string {
    if (!cellId.startsWith(this.#prefix)) throw new StaleGenerationError(cellId, this.number);
    return cellId.slice(this.#prefix.length);
  }
}
