import { describe, expect, it } from "vitest";
import { abortable, linkSignals } from "./abort.ts";
import { ManualClock } from "./testing/manual-clock.ts";

describe("linkSignals", () => {
  it("aborts with the reason of the first source that aborts", () => {
    const first = new AbortController();
    const second = new AbortController();
    using linked = linkSignals([first.signal, undefined, second.signal]);
    second.abort(new Error("second"));
    first.abort(new Error("first"));
    expect(linked.signal.reason).toEqual(new Error("second"));
  });

  it("is aborted from the start when a source is", () => {
    using linked = linkSignals([AbortSignal.abort(new Error("before"))]);
    expect(linked.signal.aborted).toBe(true);
  });

  it("aborts with a TimeoutError when its time has passed, and not when it was disposed before", async () => {
    const clock = new ManualClock();
    using kept = linkSignals([], { timeoutMs: 50, clock });
    const disposed = linkSignals([], { timeoutMs: 50, clock });
    disposed[Symbol.dispose]();
    await clock.advance(49);
    expect(kept.signal.aborted).toBe(false);
    await clock.advance(1);
    expect(kept.signal.reason).toMatchObject({ name: "TimeoutError", message: "no result within 50 ms" });
    expect(disposed.signal.aborted).toBe(false);
    expect(clock.pendingTimers).toBe(0);
  });

  it("leaves its sources alone once disposed", () => {
    const source = new AbortController();
    const linked = linkSignals([source.signal]);
    linked[Symbol.dispose]();
    source.abort();
    expect(linked.signal.aborted).toBe(false);
  });
});

describe("abortable", () => {
  it("rejects with the reason of the signal although the promise never settles", async () => {
    const controller = new AbortController();
    const waiting = abortable(new Promise(() => {}), controller.signal);
    controller.abort("a bare value");
    await expect(waiting).rejects.toMatchObject({ name: "AbortError", message: "a bare value" });
  });

  it("gives the value of a promise that settles first", async () => {
    expect(await abortable(Promise.resolve(1), new AbortController().signal)).toBe(1);
  });

  it("swallows a rejection that comes after the abort", async () => {
    const late = Promise.withResolvers<never>();
    const waiting = abortable(late.promise, AbortSignal.abort(new Error("gone")));
    late.reject(new Error("late"));
    await expect(waiting).rejects.toThrow("gone");
  });
});
