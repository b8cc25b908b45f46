import type { CodeModeSession } from "@trivium/code-mode-runtime";

/** A call to the client that waits for its answer. */
export interface Delegate {
  readonly kind: "tool" | "notification";
  readonly session: CodeModeSession;
  /** The invocation or notification id in the session. */
  readonly callId: string;
}

/** The unanswered calls of a connection, tools and notifications of all its sessions together. */
export class Delegates {
  readonly capacity: number;
  readonly #open = new Map<number, Delegate>();
  readonly #ids = new Map<string, number>();
  #lastId = 0;

  constructor(capacity: number) {
    this.capacity = capacity;
  }

  get isFull(): boolean {
    return this.#open.size >= this.capacity;
  }

  /** The id under which the client gets to know the next call: 1, 2, … */
  get nextId(): number {
    return this.#lastId + 1;
  }

  add(delegate: Delegate): void {
    const id = ++this.#lastId;
    this.#open.set(id, delegate);
    this.#ids.set(delegate.callId, id);
  }

  /** The call that the client answers; undefined when it is none that waits. */
  answer(id: bigint): Delegate | undefined {
    const number = Number(id);
    const delegate = BigInt(number) === id ? this.#open.get(number) : undefined;
    if (delegate !== undefined) this.#forget(number, delegate);
    return delegate;
  }

  /** Nobody waits for the answer any more: the id to tell the client, if it knows of the call. */
  cancel(callId: string): number | undefined {
    const id = this.#ids.get(callId);
    const delegate = id === undefined ? undefined : this.#open.get(id);
    if (id === undefined || delegate === undefined) return undefined;
    this.#forget(id, delegate);
    return id;
  }

  #forget(id: number, delegate: Delegate): void {
    this.#open.delete(id);
    this.#ids.delete(delegate.callId);
  }
}
