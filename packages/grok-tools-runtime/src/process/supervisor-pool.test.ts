import { silentLogger } from "@trivium/core";
import { ManualClock } from "@trivium/core/testing";
import { expect, it } from "vitest";
import type { Helper } from "./helper.ts";
import { SupervisorPool } from "./supervisor-pool.ts";

it("lets go of what a burst has left, also while single commands go on", async () => {
  const clock = new ManualClock();
  const pool = new SupervisorPool({
    warmCount: 1,
    start: () => Promise.resolve(fakeHelper()),
    clock,
    logger: silentLogger,
  });
  const burst = await Promise.all(Array.from({ length: 8 }, () => pool.take()));
  for (const helper of burst) pool.giveBack(helper, true);
  expect(pool.size).toBeGreaterThanOrEqual(8);
  for (let second = 0; second < 40; second++) {
    pool.giveBack(await pool.take(), true);
    await clock.advance(1000);
  }
  expect(pool.size).toBeLessThanOrEqual(2);
  pool.close();
});

/** A supervisor that does nothing. */
function fakeHelper(): Helper {
  const helper: Pick<Helper, "isLost" | "listen" | "close"> = { isLost: false, listen() {}, close() {} };
  // The pool uses nothing else of it.
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion
  return helper as Helper;
}
