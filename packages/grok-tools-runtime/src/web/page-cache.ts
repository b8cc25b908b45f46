import type { Clock } from "@trivium/core";
import type { ResourceDefinition } from "../session-resource.ts";
import type { ToolResult } from "../tool.ts";

/** How long and how many pages are kept. */
export interface CacheLimits {
  readonly ttlMs: number;
  readonly maxEntries: number;
}

interface Entry {
  readonly result: ToolResult;
  readonly storedAtMs: number;
}

/** Answers for pages fetched a short time ago, by address. */
export class PageCache {
  readonly #clock: Pick<Clock, "monotonic">;
  readonly #entries = new Map<string, Entry>();

  constructor(clock: Pick<Clock, "monotonic">) {
    this.#clock = clock;
  }

  /** The answer for a page when it is not too old. */
  find(address: string, { ttlMs }: CacheLimits): ToolResult | undefined {
    const entry = this.#entries.get(address);
    if (entry === undefined) return undefined;
    if (this.#clock.monotonic() - entry.storedAtMs < ttlMs) return entry.result;
    this.#entries.delete(address);
    return undefined;
  }

  /** Keeps an answer; the oldest ones make room. */
  keep(address: string, result: ToolResult, { maxEntries }: CacheLimits): void {
    this.#entries.delete(address);
    this.#entries.set(address, { result, storedAtMs: this.#clock.monotonic() });
    for (const oldest of this.#entries.keys()) {
      if (this.#entries.size <= maxEntries) break;
      this.#entries.delete(oldest);
    }
  }
}

/** The pages of a session. */
export const pageCache: ResourceDefinition<PageCache> = {
  name: "page-cache",
  create: ({ clock }) => new PageCache(clock),
};
