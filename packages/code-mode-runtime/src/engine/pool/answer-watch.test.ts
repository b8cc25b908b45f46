import { ManualClock } from "@trivium/core/testing";
import { describe, expect, it } from "vitest";
import { AnswerWatch } from "./answer-watch.ts";

function createWatch() {
  const clock = new ManualClock();
  const seen: string[] = [];
  const state = { isWanted: true };
  const watch = new AnswerWatch(clock, {
    isWanted: () => state.isWanted,
    ask: () => seen.push("asked"),
    isSilent: () => seen.push("silent"),
  });
  return { clock, seen, state, watch };
}

describe("a worker", () => {
  it("that answers is asked once a second", async () => {
    const { clock, seen, watch } = createWatch();
    watch.start();
    watch.start();
    for (let second = 0; second < 20; second++) {
      await clock.advance(1000);
      watch.heard();
    }
    expect(seen).toEqual(Array.from({ length: 20 }, () => "asked"));
  });

  it("that leaves five questions unanswered is silent", async () => {
    const { clock, seen, watch } = createWatch();
    watch.start();
    for (let second = 0; second < 9; second++) await clock.advance(1000);
    expect(seen).toEqual([...Array.from({ length: 5 }, () => "asked"), "silent"]);
    expect(clock.pendingTimers).toBe(0);
  });

  it("that nobody wants is asked no more once it has answered", async () => {
    const { clock, seen, state, watch } = createWatch();
    watch.start();
    await clock.advance(1000);
    state.isWanted = false;
    await clock.advance(1000);
    watch.heard();
    await clock.advance(1000);
    expect(seen).toEqual(["asked", "asked"]);
    expect(clock.pendingTimers).toBe(0);
  });
});
