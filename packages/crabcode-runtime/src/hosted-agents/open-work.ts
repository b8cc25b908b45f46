import type { ModelPort } from "../ports/model-port.ts";
import type { Tool } from "../tools/tool.ts";
import type { HostedTool } from "./hosted-agents.ts";

/**
 * What a hosted agent has started and what has not ended yet. The loop leaves behind what does not end in time after an
 * interrupt; whoever hosts the agent has to know when that is over too.
 */
export class OpenWork {
  readonly #open = new Set<Promise<unknown>>();
  #callCount = 0;

  /** Calls that have begun. */
  get callCount(): number {
    return this.#callCount;
  }

  /** Settles when nothing is open any more. */
  async ended(): Promise<void> {
    while (this.#open.size > 0) await Promise.allSettled(this.#open);
  }

  /** The tool as the loop calls it. */
  tool(hosted: HostedTool): Tool {
    const { isReadOnly, name, description, inputSchema } = hosted;
    return {
      name,
      description,
      inputSchema,
      source: "builtin",
      isReadOnly,
      isConcurrencySafe: isReadOnly,
      prepare: (input) => ({
        target: undefined,
        opinion: undefined,
        run: ({ signal }) => {
          this.#callCount += 1;
          return this.#track(hosted.call(input, signal));
        },
      }),
    };
  }

  /** The model as the loop asks it. */
  model(model: ModelPort): ModelPort {
    return { ...model, stream: (request) => this.#stream(model.stream(request)) };
  }

  async *#stream<Chunk>(chunks: AsyncIterable<Chunk>): AsyncGenerator<Chunk, void, undefined> {
    const { promise, resolve } = Promise.withResolvers<void>();
    void this.#track(promise);
    try {
      yield* chunks;
    } finally {
      resolve();
    }
  }

  async #track<Result>(work: Promise<Result>): Promise<Result> {
    this.#open.add(work);
    try {
      return await work;
    } finally {
      this.#open.delete(work);
    }
  }
}
