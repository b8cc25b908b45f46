import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { CallGate } from "./call-gate.ts";

const never = new AbortController().signal;
const settle = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

describe("CallGate", () => {
  it("lets 64 counted calls in, and any number that do not count", async () => {
    const gate = new CallGate();
    const inside = await Promise.all(Array.from({ length: 64 }, () => gate.enter("counted", never)));
    let isIn = false;
    const next = gate.enter("counted", never).then((pass) => {
      isIn = true;
      return pass;
    });
    await Promise.all(Array.from({ length: 10 }, () => gate.enter("uncounted", never)));
    expect(isIn).toBe(false);
    inside[0]?.[Symbol.dispose]();
    inside[0]?.[Symbol.dispose]();
    await next;
    expect(gate.activeCalls).toBe(74);
  });

  it("makes later calls wait behind a snapshot that waits, until it is given up", async () => {
    const gate = new CallGate();
    const first = await gate.enter("counted", never);
    const controller = new AbortController();
    const snapshot = gate.enter("exclusive", controller.signal);
    const refused = expect(snapshot).rejects.toThrow("enough");
    let isIn = false;
    const later = gate.enter("uncounted", never).then(() => {
      isIn = true;
    });
    await settle();
    expect(isIn).toBe(false);
    controller.abort(new Error("enough"));
    await refused;
    await later;
    first[Symbol.dispose]();
  });

  it("keeps snapshots alone and everything in order, whatever comes and goes", async () => {
    const modes = fc.constantFrom("counted" as const, "uncounted" as const, "exclusive" as const);
    const events = fc.array(fc.record({ mode: modes, leaves: fc.nat(3), cancels: fc.boolean() }), {
      maxLength: 40,
    });
    const check = async (
      plan: { mode: "counted" | "uncounted" | "exclusive"; leaves: number; cancels: boolean }[],
    ) => {
      const gate = new CallGate();
      const inside = new Map<number, { mode: string; pass: Disposable }>();
      const admitted: number[] = [];
      const cancelled = new Set<number>();
      for (const [index, { mode, leaves, cancels }] of plan.entries()) {
        const controller = new AbortController();
        gate.enter(mode, controller.signal).then(
          (pass) => {
            admitted.push(index);
            inside.set(index, { mode, pass });
            const others = [...inside.values()];
            expect(others.some((other) => other.mode === "exclusive") && others.length > 1).toBe(false);
          },
          () => cancelled.add(index),
        );
        await settle();
        if (cancels && !inside.has(index)) controller.abort();
        for (const [key, { pass }] of [...inside].slice(0, leaves)) {
          inside.delete(key);
          pass[Symbol.dispose]();
        }
        await settle();
      }
      while (inside.size > 0) {
        for (const [key, { pass }] of inside) {
          inside.delete(key);
          pass[Symbol.dispose]();
        }
        await settle();
      }
      expect(admitted.length + cancelled.size).toBe(plan.length);
      expect(admitted).toEqual([...admitted].sort((left, right) => left - right));
    };
    await fc.assert(fc.asyncProperty(events, check), { numRuns: 50 });
  });
});
