import { abortable } from "@trivium/core";

/** Runs jobs one after the other, in the order in which they were given. */
export class OneAtATime {
  #last: Promise<void> = Promise.resolve();

  /** Rejects with the reason of `signal` when it aborts before the job's turn; the job does not run then. */
  async run<Result>(signal: AbortSignal, job: () => Promise<Result>): Promise<Result> {
    const before = this.#last;
    const done = Promise.withResolvers<void>();
    this.#last = done.promise;
    try {
      await abortable(before, signal);
      return await job();
    } finally {
      // One that left early does not let the next pass those before it.
      void before.then(done.resolve);
    }
  }
}
