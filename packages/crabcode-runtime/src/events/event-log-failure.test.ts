import { type EventLog, MemoryEventLogStore } from "@trivium/core";
import { expect, it } from "vitest";
import { RuntimeFixture } from "../testing/runtime-fixture.ts";

it("ends the stream of a turn with an error when events cannot be written, and the next turn may work", async () => {
  const store = new MemoryEventLogStore();
  let isFull = false;
  const eventLogs = {
    open: async (name: string): Promise<EventLog> => {
      const log = await store.open(name);
      return {
        get bounds() {
          return log.bounds;
        },
        append: (encode) => (isFull ? Promise.reject(new Error("disk full")) : log.append(encode)),
        readFrom: (after, limit) => log.readFrom(after, limit),
        tail: (after, signal) => log.tail(after, signal),
        prune: (retention) => log.prune(retention),
        close: () => log.close(),
      };
    },
    delete: (name: string) => store.delete(name),
    close: () => store.close(),
  };
  await using fixture = await RuntimeFixture.create({
    script: [{ text: "a", hold: "go" }, { text: "b" }],
    runtime: { eventLogs },
  });
  const reader = await fixture.send("x");
  await reader.find({ type: "stream_mode" });
  isFull = true;
  fixture.models.release("go");
  await expect(reader.ended).rejects.toMatchObject({ kind: "internal" });
  isFull = false;
  const events = await (await fixture.send("y")).all();
  expect(events.at(-1)).toMatchObject({ type: "turn_complete", reason: "end_turn" });
});
