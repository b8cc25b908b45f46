import { TriviumError } from "@trivium/core";
import { describe, expect, it } from "vitest";
import type { MessagePlace } from "../crabcode-runtime.ts";
import { Reader, RuntimeFixture } from "../testing/runtime-fixture.ts";

const session = { sessionId: "" };

describe("a message whose call ends while its session is loaded", () => {
  it.each([
    ["is cancelled", new Error("cancelled")],
    ["loses its connection", new TriviumError("unavailable", "the connection was lost")],
  ])("never runs when it %s", async (_how, reason) => {
    await using fixture = await RuntimeFixture.create({ script: [{ text: "a" }], isDurable: true });
    const abort = new AbortController();
    const input = { session, text: "x", idempotencyKey: "k" };
    const sending = fixture.runtime.sendMessage({ ...input, signal: abort.signal });
    abort.abort(reason);
    await expect(sending).rejects.toBe(reason);
    await using copy = await fixture.afterCrash([{ text: "b" }]);
    await copy.runtime.listModels("");
    const stream = await copy.runtime.sendMessage(input);
    expect(stream.isReplay).toBe(false);
    await new Reader(stream.events).all();
    expect(copy.models.requests).toHaveLength(1);
    expect(fixture.models.requests).toHaveLength(0);
  });

  it("does not join a turn that runs", async () => {
    await using fixture = await RuntimeFixture.create({ script: [{ text: "a", hold: "go" }] });
    const reader = await fixture.send("x", { idempotencyKey: "k" });
    const signal = AbortSignal.abort(new Error("cancelled"));
    const joining = fixture.runtime.sendMessage({ session, text: "x", idempotencyKey: "k", signal });
    await expect(joining).rejects.toThrow("cancelled");
    fixture.models.release("go");
    expect((await reader.all()).at(-1)).toMatchObject({ reason: "end_turn" });
  });
});

it.each(["", "s1"])(
  "a subscription to %j whose call has ended is refused, and its session can be used",
  async (sessionId) => {
    await using fixture = await RuntimeFixture.create();
    const signal = AbortSignal.abort(new Error("cancelled"));
    const input = { session: { sessionId, create: true }, signal };
    await expect(fixture.runtime.subscribe(input)).rejects.toThrow("cancelled");
    expect((await fixture.runtime.listModels("")).models.length).toBeGreaterThan(0);
  },
);

describe("the place of a message", () => {
  it("is known before its session is loaded", async () => {
    await using fixture = await RuntimeFixture.create({ script: [{ text: "a" }] });
    const order: string[] = [];
    const eventLogs = {
      open: (name: string) => {
        order.push("load");
        return fixture.eventLogs.open(name);
      },
      head: (name: string) => fixture.eventLogs.head(name),
      delete: (name: string) => fixture.eventLogs.delete(name),
      close: () => fixture.eventLogs.close(),
    };
    await fixture.runtime.close();
    fixture.runtime = fixture.start({ eventLogs });
    const places: MessagePlace[] = [];
    const stream = await fixture.runtime.sendMessage({
      session,
      text: "x",
      onPlace: (place) => {
        order.push("place");
        places.push(place);
      },
    });
    const { sessionId, operationId, isReplay } = stream;
    expect(places).toMatchObject([{ sessionId, operationId, isReplay }]);
    expect(order).toEqual(["place", "load"]);
    await new Reader(stream.events).all();
  });

  it("is the one of the first call for a second one with its key, also while the session is loaded", async () => {
    await using fixture = await RuntimeFixture.create({ script: [{ text: "a" }] });
    const places: MessagePlace[] = [];
    const input = {
      session,
      text: "x",
      idempotencyKey: "k",
      onPlace: (place: MessagePlace) => void places.push(place),
    };
    const streams = await Promise.all([
      fixture.runtime.sendMessage(input),
      fixture.runtime.sendMessage(input),
    ]);
    await Promise.all(streams.map(({ events }) => new Reader(events).all()));
    const third = await fixture.runtime.sendMessage(input);
    await new Reader(third.events).all();
    expect(places.map(({ isReplay }) => isReplay)).toEqual([false, true, true]);
    expect(new Set([...places, ...streams, third].map(({ operationId }) => operationId)).size).toBe(1);
    expect(fixture.models.requests).toHaveLength(1);
  });
});
