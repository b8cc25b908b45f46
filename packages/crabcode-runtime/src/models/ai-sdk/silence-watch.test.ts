import { ManualClock } from "@trivium/core/testing";
import { expect, it } from "vitest";
import { SilenceWatch } from "./silence-watch.ts";

it("aborts after a silence of the whole time, counted from the last sound", async () => {
  const clock = new ManualClock();
  using watch = new SilenceWatch(clock, 30_000, new AbortController().signal);
  await clock.advance(29_999);
  watch.reset();
  await clock.advance(29_999);
  expect(watch.signal.aborted).toBe(false);
  expect(watch.failure).toBeUndefined();
  await clock.advance(1);
  expect(watch.signal.aborted).toBe(true);
  expect(watch.failure).toMatchObject({ kind: "transient" });
});

it("aborts with its source, which is no silence", () => {
  const source = new AbortController();
  using watch = new SilenceWatch(new ManualClock(), 30_000, source.signal);
  const reason = new Error("stop");
  source.abort(reason);
  expect(watch.signal.reason).toBe(reason);
  expect(watch.failure).toBeUndefined();
});

it("leaves no timer and aborts what still runs when it is disposed", () => {
  const clock = new ManualClock();
  const watch = new SilenceWatch(clock, 30_000, new AbortController().signal);
  watch[Symbol.dispose]();
  expect(clock.pendingTimers).toBe(0);
  expect(watch.signal.aborted).toBe(true);
});
