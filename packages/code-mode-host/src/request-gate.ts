import { TriviumError } from "@trivium/core";

/** Requests in progress when nobody says otherwise. */
export const DEFAULT_MAX_REQUESTS = 1024;

/** Bounds the requests in progress. */
export class RequestGate {
  readonly #maxRequests: number;
  #inProgress = 0;

  constructor(maxRequests: number) {
    this.#maxRequests = maxRequests;
  }

  /** @throws {@link TriviumError} `resourceExhausted` past the limit; otherwise what `request` throws. */
  async run<Result>(request: () => Result | Promise<Result>): Promise<Result> {
    if (this.#inProgress >= this.#maxRequests) {
      throw new TriviumError(
        "resourceExhausted",
        `too many requests in progress: this host takes ${this.#maxRequests}`,
      );
    }
    this.#inProgress++;
    try {
      return await request();
    } finally {
      this.#inProgress--;
    }
  }
}
