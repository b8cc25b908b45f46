import type { Tool } from "./tool.ts";
import { ToolSet } from "./tool-set.ts";

/** Tools that come and go between runs. */
export interface ChangingTools {
  /** As they are for now. */
  readonly tools: readonly Tool[];
  /** Brings them up to date; an abort ends only the wait for it. */
  refresh(signal: AbortSignal): Promise<readonly Tool[]>;
}

/** The tools of a session. A run keeps those it begins with. */
export class SessionTools {
  readonly #own: readonly Tool[];
  readonly #others: readonly ChangingTools[];

  constructor(own: readonly Tool[], others: readonly ChangingTools[]) {
    this.#own = own;
    this.#others = others;
  }

  /** Those that the next run would begin with, as far as that is known. */
  get all(): readonly Tool[] {
    return [...this.#own, ...this.#others.flatMap(({ tools }) => tools)];
  }

  /** The tools of a run that begins now. */
  async forRun(signal: AbortSignal): Promise<ToolSet> {
    const others = await Promise.all(this.#others.map((changing) => changing.refresh(signal)));
    return new ToolSet([...this.#own, ...others.flat()]);
  }
}
