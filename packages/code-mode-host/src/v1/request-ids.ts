import { RecentIds } from "@trivium/code-mode-runtime";
import { ProtocolError } from "./protocol-error.ts";

/** Finished requests whose ids may not come again. */
const REMEMBERED_IDS = 4096;

/** The request ids of a connection: each may be used once among the active and the newest finished ones. */
export class RequestIds {
  readonly #active = new Set<bigint>();
  readonly #finished = new RecentIds(REMEMBERED_IDS);

  /** @throws {@link ProtocolError} for an id that is in use or was a short while ago. */
  begin(id: bigint): void {
    if (this.#active.has(id) || this.#finished.has(String(id))) {
      throw new ProtocolError(`the request id ${id} is used twice`);
    }
    this.#active.add(id);
  }

  finish(id: bigint): void {
    this.#active.delete(id);
    this.#finished.add(String(id));
  }
}
