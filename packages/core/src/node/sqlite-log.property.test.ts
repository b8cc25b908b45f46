import fc from "fast-check";
import { expect, it } from "vitest";
import { MemoryEventLogStore } from "../memory-event-log.ts";
import { ManualClock } from "../testing/index.ts";
import { SqliteEventLogStore } from "./sqlite-event-log.ts";

const limits = fc.record({
  maxEvents: fc.integer({ min: 0, max: 12 }),
  maxBytes: fc.integer({ min: 0, max: 200 }),
  maxAgeMs: fc.integer({ min: 0, max: 50 }),
});
const act = fc.oneof(
  fc.record({ append: fc.array(fc.integer({ min: 0, max: 40 }), { maxLength: 6 }) }),
  fc.record({ waitMs: fc.integer({ min: 0, max: 30 }) }),
  fc.record({ prune: fc.uniqueArray(fc.integer({ min: 1, max: 30 }), { maxLength: 4 }) }),
  fc.constant({ reopen: true }),
);

it("leaves after any pruning what a log leaves that looks at every entry", async () => {
  await fc.assert(
    fc.asyncProperty(limits, fc.array(act, { maxLength: 25 }), async (limit, acts) => {
      const clock = new ManualClock();
      const stores = [
        new SqliteEventLogStore({ path: ":memory:", clock, bootId: "b" }),
        new MemoryEventLogStore({ clock }),
      ] as const;
      const seen: [number, string][][] = [];
      for (const one of acts) {
        if ("waitMs" in one) await clock.advance(one.waitMs);
        for (const [index, store] of stores.entries()) {
          const log = await store.open("s");
          if ("append" in one)
            await Promise.all(one.append.map((size) => log.append(() => "x".repeat(size))));
          if ("prune" in one) await log.prune({ ...limit, keepSeqs: one.prune });
          if ("reopen" in one) await log.close();
          const again = await store.open("s");
          seen[index] = (await again.readFrom(0, 1000)).map(({ seq, data }) => [seq, data]);
          if (index > 0) expect(seen[0]).toEqual(seen[index]);
        }
      }
      for (const store of stores) await store.close();
    }),
    { numRuns: 200 },
  );
});
