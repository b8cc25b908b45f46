/** The rest of a lane's payloads, whose end can be seen before anybody reads them. */
export class PeekedPayloads implements AsyncIterable<Uint8Array> {
  readonly #payloads: AsyncIterator<Uint8Array>;
  #first: Promise<IteratorResult<Uint8Array, unknown>> | undefined;

  constructor(payloads: AsyncIterator<Uint8Array>) {
    this.#payloads = payloads;
  }

  /** Resolves when nothing comes any more before anything has come; never when something has. Rejects with its failure. */
  async ended(): Promise<undefined> {
    this.#first ??= this.#payloads.next();
    const first = await this.#first;
    if (first.done !== true) await new Promise(() => {});
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<Uint8Array> {
    for (;;) {
      const next = await (this.#first ?? this.#payloads.next());
      this.#first = undefined;
      if (next.done === true) return;
      yield next.value;
    }
  }
}
