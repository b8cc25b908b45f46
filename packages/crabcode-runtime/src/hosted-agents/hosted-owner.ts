import type { ModelState } from "../ports/model-port.ts";
import { KeptConversations } from "./kept-conversations.ts";

/** What the agents of one owner have in common. */
export class HostedOwner {
  readonly conversations: KeptConversations = new KeptConversations();
  /** Values that models keep; they end with the owner. */
  readonly modelState: ModelState;
  #startedCount = 0;

  constructor() {
    const values = new Map<string, string>();
    this.modelState = {
      read: (key) => values.get(key),
      write: (key, value) => void values.set(key, value),
    };
  }

  /** 1-based number of an agent that starts now. */
  nextOrdinal(): number {
    this.#startedCount += 1;
    return this.#startedCount;
  }
}
