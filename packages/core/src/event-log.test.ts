import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { EventLog, EventLogStore, LogEntry } from "./event-log.ts";
import { MemoryEventLogStore } from "./memory-event-log.ts";
import { SqliteEventLogStore } from "./node/index.ts";
import { ManualClock } from "./testing/manual-clock.ts";
import { temporaryFolder } from "./testing/temporary-folder.ts";

const stores: readonly [string, (clock: ManualClock) => EventLogStore][] = [
  ["MemoryEventLogStore", (clock) => new MemoryEventLogStore({ clock })],
  ["SqliteEventLogStore", (clock) => new SqliteEventLogStore({ path: ":memory:", clock })],
];

describe.each(stores)("%s", (_name, createStore) => {
  async function openLog(clock = new ManualClock()): Promise<EventLog> {
    return createStore(clock).open("s1");
  }

  it("numbers entries from 1 without a hole, in call order", async () => {
    const log = await openLog();
    const entries = await Promise.all(["a", "b", "c"].map((text) => log.append((seq) => `${seq}${text}`)));
    expect(entries.map(({ seq, data }) => [seq, data])).toEqual([
      [1, "1a"],
      [2, "2b"],
      [3, "3c"],
    ]);
    expect(log.bounds).toMatchObject({ firstSeq: 1, lastSeq: 3 });
  });

  it("starts empty", async () => {
    const log = await openLog();
    expect(log.bounds).toMatchObject({ firstSeq: 1, lastSeq: 0 });
    expect(await log.readFrom(0, 10)).toEqual([]);
  });

  it("gives one log for one name", async () => {
    const store = createStore(new ManualClock());
    const first = await store.open("s1");
    await first.append(() => "x");
    expect((await store.open("s1")).bounds.lastSeq).toBe(1);
    expect((await store.open("s2")).bounds.lastSeq).toBe(0);
  });

  it("goes on when a closed log is opened again", async () => {
    const store = createStore(new ManualClock());
    const first = await store.open("s1");
    await first.append(String);
    const { epoch } = first.bounds;
    await first.close();
    const again = await store.open("s1");
    expect((await again.append(String)).seq).toBe(2);
    expect(again.bounds.epoch).toBe(epoch);
    expect(await again.readFrom(0, 10)).toHaveLength(2);
  });

  it("tells the head of a log that nobody has opened", async () => {
    const store = createStore(new ManualClock());
    expect(await store.head("s1")).toBeUndefined();
    const log = await store.open("s1");
    await log.append(String);
    await log.append(String);
    const { epoch } = log.bounds;
    await log.close();
    expect(await store.head("s1")).toMatchObject({ epoch, lastSeq: 2 });
  });

  it("reads pages after a position", async () => {
    const log = await openLog();
    await Promise.all(Array.from({ length: 5 }, () => log.append(String)));
    expect((await log.readFrom(1, 2)).map(({ seq }) => seq)).toEqual([2, 3]);
    expect(await log.readFrom(5, 2)).toEqual([]);
  });

  it("tails what is stored and what comes, each once, and ends when it closes", async () => {
    const log = await openLog();
    await log.append(String);
    const seen: number[] = [];
    const reading = (async () => {
      for await (const { seq } of log.tail(0, new AbortController().signal)) {
        seen.push(seq);
        if (seq < 4) await log.append(String);
      }
    })();
    await log.append(String);
    while (seen.length < 4) await new Promise(setImmediate);
    await log.close();
    await reading;
    expect(seen.slice(0, 4)).toEqual([1, 2, 3, 4]);
  });

  it("ends a waiting tail when its signal aborts", async () => {
    const log = await openLog();
    const controller = new AbortController();
    const reading = collect(log.tail(0, controller.signal));
    await new Promise(setImmediate);
    controller.abort();
    expect(await reading).toEqual([]);
  });

  it("prunes the oldest by count, bytes and age, and never a pinned entry", async () => {
    const clock = new ManualClock();
    const log = await openLog(clock);
    for (let count = 0; count < 6; count++) {
      await log.append(() => "four");
      await clock.advance(10);
    }
    await log.prune({ maxEvents: 5 });
    expect(await kept(log)).toEqual([2, 3, 4, 5, 6]);
    await log.prune({ maxBytes: 15, keepSeqs: [2] });
    expect(await kept(log)).toEqual([2, 4, 5, 6]);
    await log.prune({ maxAgeMs: 20 });
    expect(await kept(log)).toEqual([5, 6]);
    expect(log.bounds).toMatchObject({ firstSeq: 5, lastSeq: 6 });
  });

  it("refuses entries after it was closed", async () => {
    const log = await openLog();
    await log.close();
    await expect(log.append(String)).rejects.toMatchObject({ kind: "unavailable" });
  });

  it("forgets a deleted log", async () => {
    const store = createStore(new ManualClock());
    await (await store.open("s1")).append(String);
    await store.delete("s1");
    expect((await store.open("s1")).bounds).toMatchObject({ firstSeq: 1, lastSeq: 0 });
  });

  it("shows a tail every entry once whatever the timing of its appends", async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.integer({ min: 0, max: 3 }), { minLength: 1, maxLength: 30 }),
        async (pauses) => {
          const log = await openLog();
          const reading = collect(log.tail(0, new AbortController().signal));
          for (const pause of pauses) {
            void log.append(String);
            for (let turn = 0; turn < pause; turn++) await Promise.resolve();
          }
          await log.append(String);
          await log.close();
          expect((await reading).map(({ seq }) => seq)).toEqual(
            pauses.map((_, index) => index + 1).concat(pauses.length + 1),
          );
        },
      ),
      { numRuns: 50 },
    );
  });
});

describe("SqliteEventLogStore whose database fails", () => {
  it("ends the tails of its logs all the same, and says so", async () => {
    await using folder = await temporaryFolder();
    const path = join(folder.path, "events.db");
    const store = new SqliteEventLogStore({ path });
    const log = await store.open("s1");
    await log.append(String);
    const reading = collect(log.tail(1, new AbortController().signal));
    await new Promise(setImmediate);
    const other = new DatabaseSync(path);
    other.exec("PRAGMA foreign_keys = OFF; DROP TABLE log");
    other.close();
    await expect(store.close()).rejects.toThrow("event logs could not be closed");
    expect(await reading).toEqual([]);
  });

  it("can be written again after a batch that could not be", async () => {
    await using folder = await temporaryFolder();
    const path = join(folder.path, "events.db");
    const log = await new SqliteEventLogStore({ path }).open("s1");
    const other = new DatabaseSync(path);
    other.exec("ALTER TABLE entry RENAME TO hidden");
    await expect(log.append(String)).rejects.toMatchObject({ kind: "unavailable" });
    other.exec("ALTER TABLE hidden RENAME TO entry");
    other.close();
    expect(await log.append(String)).toMatchObject({ seq: 1 });
  });
});

describe("SqliteEventLogStore on disk", () => {
  it("goes on numbering after a clean close", async () => {
    await using folder = await temporaryFolder();
    const path = join(folder.path, "events.db");
    const first = new SqliteEventLogStore({ path, bootId: "boot-1" });
    const before = await first.open("s1");
    await before.append(String);
    const { epoch } = before.bounds;
    await first.close();
    const second = new SqliteEventLogStore({ path, bootId: "boot-2" });
    const after = await second.open("s1");
    expect(after.bounds).toEqual({ epoch, firstSeq: 1, lastSeq: 1 });
    expect(await after.append(String)).toMatchObject({ seq: 2 });
    await second.close();
  });

  it("goes on numbering after a crash of the process, and starts a new epoch after a crash of the machine", async () => {
    await using folder = await temporaryFolder();
    const path = join(folder.path, "events.db");
    const crashed = await new SqliteEventLogStore({ path, bootId: "boot-1" }).open("s1");
    await crashed.append(String);
    const { epoch } = crashed.bounds;
    const sameBoot = await new SqliteEventLogStore({ path, bootId: "boot-1" }).open("s1");
    expect(sameBoot.bounds).toEqual({ epoch, firstSeq: 1, lastSeq: 1 });
    const nextBoot = await new SqliteEventLogStore({ path, bootId: "boot-2" }).open("s1");
    expect(nextBoot.bounds).toMatchObject({ firstSeq: 1, lastSeq: 0 });
    expect(nextBoot.bounds.epoch).not.toBe(epoch);
  });
});

async function kept(log: EventLog): Promise<number[]> {
  return (await log.readFrom(0, 100)).map(({ seq }) => seq);
}

async function collect(entries: AsyncIterable<LogEntry>): Promise<LogEntry[]> {
  const all: LogEntry[] = [];
  for await (const entry of entries) all.push(entry);
  return all;
}
