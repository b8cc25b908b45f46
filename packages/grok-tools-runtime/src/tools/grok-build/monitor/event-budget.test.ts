import { describe, expect, it } from "vitest";
import { EventBudget } from "./event-budget.ts";

describe("EventBudget", () => {
  it("lets ten through at once and then one every two seconds, with the number of those left out", () => {
    const budget = new EventBudget(0);
    const verdicts = Array.from({ length: 12 }, () => budget.admit(0).kind);
    expect(verdicts).toEqual([...Array.from({ length: 10 }, () => "tell"), "suppress", "suppress"]);
    expect(budget.admit(1999)).toEqual({ kind: "suppress" });
    expect(budget.admit(2000)).toEqual({ kind: "tell", suppressedCount: 3 });
    expect(budget.admit(3999)).toEqual({ kind: "suppress" });
    expect(budget.admit(4000)).toEqual({ kind: "tell", suppressedCount: 1 });
  });

  it("never holds more than ten", () => {
    const budget = new EventBudget(0);
    const admitted = Array.from({ length: 20 }, () => budget.admit(1_000_000).kind);
    expect(admitted.filter((kind) => kind === "tell")).toHaveLength(10);
  });

  it("stops a flood of more than half a minute, though some events got through", () => {
    const budget = new EventBudget(0);
    // One event every 200 ms: the first is left out after 2200 ms.
    for (let nowMs = 0; nowMs <= 32_200; nowMs += 200) {
      expect(budget.admit(nowMs).kind, `${nowMs}`).not.toBe("stop");
    }
    const verdict = budget.admit(32_400);
    expect(verdict).toEqual({ kind: "stop", suppressedCount: expect.any(Number) });
  });

  it("ends a flood when an event goes out with none left out before it", () => {
    const budget = new EventBudget(0);
    for (let count = 0; count < 11; count++) budget.admit(0);
    budget.admit(2000);
    expect(budget.admit(4000)).toEqual({ kind: "tell", suppressedCount: 0 });
    for (let count = 0; count < 20; count++) expect(budget.admit(4100).kind).toBe("suppress");
    expect(budget.admit(34_000).kind).not.toBe("stop");
  });
});
