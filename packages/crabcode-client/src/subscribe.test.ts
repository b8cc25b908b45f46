import { Code } from "@connectrpc/connect";
import { ManualClock } from "@trivium/core/testing";
import { describe, expect, it } from "vitest";
import { type CrabcodeClientEvent, cursorOf } from "./client-event.ts";
import { CrabcodeClient, type SubscribeOptions } from "./crabcode-client.ts";
import {
  connected,
  connectionLoss,
  type FakeService,
  fakeService,
  permissionRequest,
  refusal,
  text,
} from "./testing/fake-service.ts";

describe("CrabcodeClient.subscribe", () => {
  it("starts behind the given cursor and ends when the session closes", async () => {
    const service = fakeService([[connected(9), text(8, "a"), text(9, "b")]]);
    const { events } = watch(service, { sessionId: "s1", afterSeq: "ep:7" });
    expect((await events).map(cursorOf)).toEqual([undefined, "ep:8", "ep:9"]);
    expect(cursors(service)).toEqual(["ep:7"]);
  });

  it("reconnects from the last event and delivers each event once", async () => {
    const service = fakeService([
      [connected(0), text(1, "a"), text(2, "b"), connectionLoss()],
      [connected(4), text(2, "b"), text(3, "c"), text(4, "d")],
    ]);
    const { events } = watch(service, { sessionId: "s1" });
    expect(wordsOf(await events)).toEqual(["a", "b", "c", "d"]);
    expect(cursors(service)).toEqual([null, "ep:2"]);
  });

  it("loses nothing when the connection breaks before the first event", async () => {
    const service = fakeService([
      [connected(5), connectionLoss()],
      [connected(6), text(6, "late")],
    ]);
    expect(wordsOf(await watch(service, { sessionId: "s1" }).events)).toEqual(["late"]);
    expect(cursors(service)).toEqual([null, "ep:5"]);
  });

  it("keeps a cursor per session when it watches all", async () => {
    const position = { epoch: "ep", model: "m", mode: "agent", busy: false };
    const hello = {
      type: "server.connected",
      properties: {
        session_id: null,
        epoch: null,
        seq: null,
        sessions: { s1: { ...position, seq: 3 }, s2: { ...position, seq: 1 } },
      },
    };
    const service = fakeService([
      [hello, text(4, "a"), text(1, "new", "s3"), connectionLoss()],
      [hello, text(2, "b", "s2")],
    ]);
    expect(wordsOf(await watch(service, {}).events)).toEqual(["a", "new", "b"]);
    expect(cursors(service)).toEqual([null, "s1=ep:4,s2=ep:1,s3=ep:1"]);
  });

  it("tells a gap and continues behind it", async () => {
    const gap = {
      type: "server.gap",
      properties: {
        session_id: "s1",
        epoch: "new",
        from_seq: 1,
        to_seq: 40,
        reason: "epoch",
        previous_epoch: "ep",
      },
    };
    const service = fakeService([
      [connected(50), gap, connectionLoss()],
      [connected(50), text(41, "next")],
    ]);
    const types = (await watch(service, { sessionId: "s1", afterSeq: "ep:7" }).events).map(
      ({ type }) => type,
    );
    expect(types).toContain("server.gap");
    expect(cursors(service)).toEqual(["ep:7", "new:40"]);
  });

  it("forgets a session that is gone, and follows a numbering that began again", async () => {
    const gap = (reason: string, epoch: string) => ({
      type: "server.gap",
      properties: { session_id: "s1", epoch, from_seq: 0, to_seq: 0, reason, previous_epoch: null },
    });
    const service = fakeService([
      [text(17, "a"), gap("epoch", "ep"), text(1, "b"), connectionLoss()],
      [gap("session_gone", "ep"), connectionLoss()],
      [],
    ]);
    const events = await watch(service, {}).events;
    expect(events.map(({ type }) => type)).toEqual([
      "stream_text",
      "server.gap",
      "stream_text",
      "server.gap",
    ]);
    expect(cursors(service)).toEqual([null, "s1=ep:1", null]);
  });

  it("waits longer after each failure, and comes back when the server does", async () => {
    const down = refusal(Code.Unavailable, "SHUTTING_DOWN");
    const service = fakeService([
      [connected(0), down],
      [connectionLoss()],
      [connectionLoss()],
      [connected(1), text(1, "back")],
    ]);
    const clock = new HastyClock();
    const { events } = watch(service, { sessionId: "s1" }, clock);
    expect(wordsOf(await events)).toEqual(["back"]);
    expect(clock.waitsMs).toEqual([250, 500, 1_000]);
  });

  it("gives up a stream that fails inside the server again and again without an event", async () => {
    const broken = [connected(1), connectionLoss(Code.Internal)];
    const service = fakeService(Array.from({ length: 40 }, () => broken));
    const clock = new HastyClock();
    const { events } = watch(service, { sessionId: "s1" }, clock);
    await expect(events).rejects.toMatchObject({ kind: "internal" });
    expect(service.calls).toHaveLength(5);
    expect(clock.waitsMs).toEqual([250, 500, 1_000, 2_000]);
  });

  it("begins its waits anew after an event", async () => {
    const service = fakeService([
      [connected(0), connectionLoss()],
      [connected(0), connectionLoss()],
      [connected(0), text(1, "a"), connectionLoss()],
      [connected(1), connectionLoss()],
      [connected(1)],
    ]);
    const clock = new HastyClock();
    await watch(service, { sessionId: "s1" }, clock).events;
    expect(clock.waitsMs).toEqual([250, 500, 250, 500]);
  });

  it("begins its waits anew after a connection that lived for a while", async () => {
    const end = Promise.withResolvers<void>();
    const service = fakeService([
      [connected(0), connectionLoss()],
      [connected(0), end.promise, connectionLoss()],
      [connected(0)],
    ]);
    const clock = new HastyClock();
    const { events, received } = watch(service, { sessionId: "s1" }, clock);
    await expect.poll(() => received.length).toBe(2);
    await clock.advance(5_000);
    end.resolve();
    await events;
    expect(clock.waitsMs).toEqual([250, 250]);
  });

  it("takes a connection that says nothing for 35 s as lost", async () => {
    const service = fakeService([
      [connected(0), "wait"],
      [connected(1), text(1, "again")],
    ]);
    const clock = new ManualClock();
    const { events, received } = watch(service, { sessionId: "s1" }, clock);
    await expect.poll(() => received.length).toBe(1);
    await expect.poll(() => clock.pendingTimers).toBe(1);
    await clock.advance(35_000);
    await expect.poll(() => service.calls[0]?.signal.aborted).toBe(true);
    await expect.poll(() => clock.pendingTimers).toBe(1);
    await clock.advance(250);
    expect(wordsOf(await events)).toEqual(["again"]);
    expect(clock.pendingTimers).toBe(0);
  });

  it.each([
    ["a refusal", refusal(Code.NotFound, "SESSION_NOT_FOUND"), "notFound"],
    ["a server that is not there", connectionLoss(), "unavailable"],
  ])("throws %s at the first connection", async (_name, error, kind) => {
    const service = fakeService([[error]]);
    await expect(watch(service, { sessionId: "s1" }).events).rejects.toMatchObject({ kind });
    expect(service.calls).toHaveLength(1);
  });

  it("throws a refusal that comes later", async () => {
    const service = fakeService([
      [connected(0), connectionLoss()],
      [refusal(Code.NotFound, "SESSION_NOT_FOUND")],
    ]);
    await expect(watch(service, { sessionId: "s1" }).events).rejects.toMatchObject({ kind: "notFound" });
  });

  it("ends without an error when its signal aborts, and leaves nothing behind", async () => {
    const service = fakeService([[connected(0), "wait"]]);
    const clock = new ManualClock();
    const controller = new AbortController();
    const { events, received } = watch(service, { sessionId: "s1", signal: controller.signal }, clock);
    await expect.poll(() => received.length).toBe(1);
    controller.abort();
    expect(await events).toHaveLength(1);
    expect(clock.pendingTimers).toBe(0);
    await expect.poll(() => service.calls[0]?.signal.aborted).toBe(true);
  });

  it("cancels the call when the loop is left", async () => {
    const service = fakeService([[connected(0), text(1, "a"), "wait"]]);
    const clock = new ManualClock();
    const client = new CrabcodeClient(service.transport, { clock });
    for await (const { type } of client.subscribe({ sessionId: "s1" })) if (type === "stream_text") break;
    await expect.poll(() => service.calls[0]?.signal.aborted).toBe(true);
    expect(clock.pendingTimers).toBe(0);
  });

  it("asks a question once, although it is sent again after a reconnect", async () => {
    const service = fakeService([
      [connected(0), permissionRequest(1), connectionLoss()],
      [connected(1), permissionRequest(1, { replayed: true })],
    ]);
    let asked = 0;
    const onPermission = async (): Promise<"allow"> => {
      asked += 1;
      return "allow";
    };
    await watch(service, { sessionId: "s1", onPermission }).events;
    expect(asked).toBe(1);
  });

  it("ends with what a callback throws", async () => {
    const service = fakeService([[connected(0), permissionRequest(1), "wait"]]);
    const onPermission = (): never => {
      throw new Error("the dialog broke");
    };
    await expect(watch(service, { sessionId: "s1", onPermission }).events).rejects.toThrow(
      "the dialog broke",
    );
  });
});

describe("the short calls", () => {
  it("list models with the active one", async () => {
    const { transport } = fakeService([], {
      async listModels({ sessionId }, { responseHeader }) {
        responseHeader.set("crabcode-current-model", "gr%C3%B6%C3%9Fe");
        return { models: [{ name: "größe", description: sessionId }] };
      },
    });
    expect(await new CrabcodeClient(transport).listModels({ sessionId: "s1" })).toEqual({
      models: [{ name: "größe", description: "s1" }],
      current: "größe",
    });
  });

  it("switch model and mode and ask for health", async () => {
    const calls: unknown[] = [];
    const { transport } = fakeService([], {
      async switchModel({ name, sessionId }) {
        calls.push([name, sessionId]);
        return {};
      },
      async switchMode({ mode, sessionId }) {
        calls.push([mode, sessionId]);
        return {};
      },
      healthCheck: async () => ({ status: "ok", version: "1.2.3" }),
    });
    const client = new CrabcodeClient(transport);
    await client.switchModel("fast", { sessionId: "s1" });
    await client.switchMode("plan");
    expect(calls).toEqual([
      ["fast", "s1"],
      ["plan", ""],
    ]);
    expect(await client.health()).toEqual({ status: "ok", version: "1.2.3" });
  });

  it("throw errors of this project, with the reason of the server", async () => {
    const { transport } = fakeService([], {
      respondPermission: () => Promise.reject(refusal(Code.NotFound, "REQUEST_NOT_PENDING")),
    });
    const client = new CrabcodeClient(transport);
    const answering = client.respondPermission({ sessionId: "s1", toolUseId: "zzz" }, "allow");
    await expect(answering).rejects.toMatchObject({ kind: "notFound" });
  });
});

interface Watched {
  /** Every event, once the subscription has ended. */
  readonly events: Promise<readonly CrabcodeClientEvent[]>;
  /** Grows while it runs. */
  readonly received: readonly CrabcodeClientEvent[];
}

/** Without a clock reconnects happen at once. */
function watch({ transport }: FakeService, options: SubscribeOptions, clock?: ManualClock): Watched {
  const ownClock = clock ?? new HastyClock();
  const client = new CrabcodeClient(transport, { clock: ownClock, random: () => 1 });
  const received: CrabcodeClientEvent[] = [];
  const events = (async () => {
    for await (const event of client.subscribe(options)) received.push(event);
    return received;
  })();
  events.catch(() => {});
  return { events, received };
}

/** Time in which short waits are over at once. */
class HastyClock extends ManualClock {
  readonly waitsMs: number[] = [];

  override setTimer(delayMs: number, callback: () => void): Disposable {
    if (delayMs > 20_000) return super.setTimer(delayMs, callback);
    this.waitsMs.push(delayMs);
    queueMicrotask(callback);
    return { [Symbol.dispose]() {} };
  }
}

function cursors({ calls }: FakeService): (string | null)[] {
  return calls.map(({ headers }) => headers.get("trivium-after-seq"));
}

function wordsOf(events: readonly CrabcodeClientEvent[]): string[] {
  return events.flatMap((event) => (event.type === "stream_text" ? [event.text] : []));
}
