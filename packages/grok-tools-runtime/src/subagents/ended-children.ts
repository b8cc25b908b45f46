import type { Child } from "./child.ts";

/** Ended children that stay known. */
const MAX_COUNT = 1024;
/** Bytes of the texts they began and ended with. */
const MAX_TEXT_BYTES = 64 * 1024 * 1024;

/** Children that have ended, oldest first, bounded. The newest one stays in any case. */
export class EndedChildren {
  readonly #bytesOf = new Map<Child, number>();
  #bytes = 0;

  get count(): number {
    return this.#bytesOf.size;
  }

  /** Adds one. Returns those that are forgotten for it. */
  add(child: Child): Child[] {
    const { end, plan } = child;
    const texts = [plan.request.prompt, child.description, end?.output ?? "", end?.error ?? ""];
    const bytes = texts.reduce((sum, text) => sum + Buffer.byteLength(text), 0);
    this.#bytesOf.set(child, bytes);
    this.#bytes += bytes;
    const forgotten: Child[] = [];
    for (const [oldest, size] of this.#bytesOf) {
      if (this.#bytesOf.size <= MAX_COUNT && this.#bytes <= MAX_TEXT_BYTES) break;
      if (oldest === child) break;
      this.#bytesOf.delete(oldest);
      this.#bytes -= size;
      forgotten.push(oldest);
    }
    return forgotten;
  }
}
