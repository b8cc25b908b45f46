import type { EventLogStore } from "@trivium/core";
import { expect, it } from "vitest";
import { RuntimeFixture } from "../testing/runtime-fixture.ts";

const read = { tool_calls: [{ id: "t1", name: "Read", input: { file_path: "a.txt" } }] };

async function withBrokenToolbox(): Promise<RuntimeFixture> {
  const fixture = await RuntimeFixture.create({ script: [read, { text: "b" }], isDurable: true });
  await (await fixture.send("x")).all();
  fixture.toolbox.onDispose = () => Promise.reject(new Error("rm: not empty"));
  return fixture;
}

it("a session whose toolbox cannot be disposed is unloaded all the same", async () => {
  await using fixture = await withBrokenToolbox();
  const subscription = await fixture.subscribe();
  const { sessionId } = await fixture.runtime.listModels("");
  await expect(fixture.runtime.closeSession(sessionId)).rejects.toThrow("rm: not empty");
  await subscription.ended;
  await fixture.runtime.switchMode(sessionId, "plan");
  expect(subscription.events.some(({ type }) => type === "mode_change")).toBe(false);
  fixture.toolbox.onDispose = undefined;
});

it("a runtime with such a session ends its streams and gives its folder back", async () => {
  await using fixture = await withBrokenToolbox();
  const subscription = await fixture.subscribe();
  await expect(fixture.closeRuntime()).rejects.toThrow("not every session could be closed");
  await expect(subscription.ended).rejects.toMatchObject({ reason: "SHUTTING_DOWN" });
  fixture.toolbox.onDispose = undefined;
  fixture.runtime = fixture.start();
  expect((await fixture.runtime.listModels("")).sessionId).not.toBe("");
});

it("a session that cannot be loaded leaves no open log behind, and may be tried again", async () => {
  await using fixture = await RuntimeFixture.create({ script: [{ text: "a", hold: "go" }], isDurable: true });
  await (await fixture.send("x")).find({ type: "stream_mode" });
  let openLogs = 0;
  let isBroken = true;
  const wrapped = (store: EventLogStore): EventLogStore => ({
    async open(name) {
      const log = await store.open(name);
      openLogs += 1;
      return {
        get bounds() {
          return log.bounds;
        },
        append: (encode) => log.append(encode),
        // Recovery reads the events of the turn that was cut.
        readFrom: (after, limit) =>
          isBroken ? Promise.reject(new Error("bad row")) : log.readFrom(after, limit),
        tail: (after, signal) => log.tail(after, signal),
        prune: (retention) => log.prune(retention),
        close: () => {
          openLogs -= 1;
          return log.close();
        },
      };
    },
    head: (name) => store.head(name),
    delete: (name) => store.delete(name),
    close: () => store.close(),
  });
  await using copy = await fixture.afterCrash([], wrapped);
  await expect(copy.runtime.listModels("")).rejects.toThrow("bad row");
  expect(openLogs).toBe(0);
  isBroken = false;
  expect((await copy.runtime.listModels("")).sessionId).not.toBe("");
  fixture.models.release("go");
});
