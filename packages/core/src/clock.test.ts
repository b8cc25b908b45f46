import { describe, expect, it } from "vitest";
import { sleep, systemClock } from "./clock.ts";
import { ManualClock } from "./testing/manual-clock.ts";

describe("sleep", () => {
  it("ends after its time", async () => {
    const clock = new ManualClock();
    const ended: string[] = [];
    const sleeping = sleep(clock, 10).then(() => ended.push("slept"));
    await clock.advance(9);
    expect(ended).toEqual([]);
    await clock.advance(1);
    await sleeping;
    expect(ended).toEqual(["slept"]);
  });

  it("rejects with the reason of its signal and leaves no timer", async () => {
    const clock = new ManualClock();
    const controller = new AbortController();
    const sleeping = sleep(clock, 10, controller.signal);
    controller.abort(new Error("enough"));
    await expect(sleeping).rejects.toThrow("enough");
    expect(clock.pendingTimers).toBe(0);
  });

  it("rejects at once when its signal is aborted already", async () => {
    await expect(sleep(new ManualClock(), 10, AbortSignal.abort(new Error("before")))).rejects.toThrow(
      "before",
    );
  });
});

describe("systemClock", () => {
  it("does not fire early for a delay that does not fit in 31 bits", async () => {
    let isFired = false;
    const timer = systemClock.setTimer(2 ** 40, () => {
      isFired = true;
    });
    await new Promise<void>((resolve) => systemClock.setTimer(5, resolve));
    expect(isFired).toBe(false);
    timer[Symbol.dispose]();
  });
});
