import { describe, expect, it } from "vitest";
import { LazySignal } from "./lazy-signal.ts";

describe("LazySignal", () => {
  it("tells whoever looked at it before the end", () => {
    const lazy = new LazySignal();
    const { signal } = lazy;
    expect(lazy.signal).toBe(signal);
    expect(signal.aborted).toBe(false);
    lazy.abort("over");
    expect([signal.aborted, signal.reason]).toEqual([true, "over"]);
  });

  it("tells whoever looks at it after the end, with the first reason", () => {
    const lazy = new LazySignal();
    lazy.abort("first");
    lazy.abort("second");
    expect([lazy.signal.aborted, lazy.signal.reason]).toEqual([true, "first"]);
  });
});
