import { setTimeout as delay } from "node:timers/promises";

/** Waits until a condition of the outside world (processes, files) holds. Looks every 5 ms; fails after `limitMs`. */
export async function until(condition: () => boolean, limitMs: number = 10_000): Promise<void> {
  const deadline = performance.now() + limitMs;
  while (!condition()) {
    if (performance.now() > deadline) throw new Error("the condition did not come true");
    await delay(5);
  }
}
