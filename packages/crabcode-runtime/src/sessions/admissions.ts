import type { IdSource } from "@trivium/core";
import type { MessagePlace } from "../crabcode-runtime.ts";
import type { OperationStore } from "../store/operation-store.ts";

interface Reservation {
  readonly operationId: string;
  callCount: number;
}

/**
 * Ids of messages whose session is still being loaded, so that a client can be told them before. Calls with one key
 * get one id, also when they come at the same time.
 */
export class Admissions {
  readonly #ids: IdSource;
  readonly #reserved = new Map<string, Reservation>();

  constructor(ids: IdSource) {
    this.#ids = ids;
  }

  /** The place of a message; disposed once it was admitted or refused. */
  reserve(
    operations: Pick<OperationStore, "findByKey">,
    call: { readonly sessionId: string; readonly idempotencyKey: string | undefined; readonly nowMs: number },
  ): MessagePlace & Disposable {
    const { sessionId, idempotencyKey, nowMs } = call;
    if (idempotencyKey === undefined) {
      return { sessionId, operationId: this.#ids.hex(16), isReplay: false, [Symbol.dispose]() {} };
    }
    const known = operations.findByKey(idempotencyKey, nowMs);
    const name = `${sessionId} ${idempotencyKey}`;
    const reserved = this.#reserved.get(name);
    const operationId = known?.operationId ?? reserved?.operationId ?? this.#ids.hex(16);
    const reservation = reserved ?? { operationId, callCount: 0 };
    reservation.callCount += 1;
    this.#reserved.set(name, reservation);
    return {
      sessionId,
      operationId,
      isReplay: known !== undefined || reserved !== undefined,
      [Symbol.dispose]: () => {
        reservation.callCount -= 1;
        if (reservation.callCount === 0) this.#reserved.delete(name);
      },
    };
  }
}
