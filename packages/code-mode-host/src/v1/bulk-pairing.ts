import type { IdSource } from "@trivium/core";
import type { Lane } from "./lane.ts";

/** Clients that have yet to attach their second socket, at most. */
const MAX_WAITING = 256;

/** A second lane that waits for its client. Disposing it takes the offer back, and cuts the lane if it came. */
export interface BulkReservation extends Disposable {
  /** A UUID; the client names it once. */
  readonly token: string;
  /** The lane once it is there. */
  readonly lane: Promise<Lane>;
}

/** Brings the two sockets of a connection together. */
export class BulkPairing {
  readonly #ids: IdSource;
  readonly #waiting = new Map<string, (lane: Lane) => void>();

  constructor(ids: IdSource) {
    this.#ids = ids;
  }

  /** Undefined when too many wait already. */
  reserve(): BulkReservation | undefined {
    if (this.#waiting.size >= MAX_WAITING) return undefined;
    const token = this.#ids.uuid();
    const { promise: lane, resolve } = Promise.withResolvers<Lane>();
    this.#waiting.set(token, resolve);
    return {
      token,
      lane,
      [Symbol.dispose]: () => {
        this.#waiting.delete(token);
        void lane.then((attached) => attached.destroy());
      },
    };
  }

  /** Where to hand the socket that names `token`; undefined for a token that is not waiting. It is used up then. */
  claim(token: string): ((lane: Lane) => void) | undefined {
    const attach = this.#waiting.get(token);
    this.#waiting.delete(token);
    return attach;
  }
}
