import { silentLogger, TriviumError } from "@trivium/core";
import { ManualClock } from "@trivium/core/testing";
import { describe, expect, it } from "vitest";
import type { CallbackLink, SentNotification } from "./callback-dialer.ts";
import { NotificationOutbox } from "./notification-outbox.ts";
import type { ToolNotification } from "./tool-notification.ts";

interface FakeLink extends CallbackLink {
  readonly sent: SentNotification[];
  /** Answers of the next deliveries; without one a delivery is taken at once. */
  readonly answers: (() => Promise<void>)[];
  isReady: PromiseLike<void>;
}

function fakeLink(): FakeLink {
  const sent: SentNotification[] = [];
  const answers: (() => Promise<void>)[] = [];
  return {
    sent,
    answers,
    isReady: Promise.resolve(),
    connect: () => Promise.resolve(),
    async ready(signal) {
      await Promise.race([
        this.isReady,
        new Promise((_resolve, reject) => signal.addEventListener("abort", () => reject(signal.reason))),
      ]);
    },
    async notify(notification, signal) {
      sent.push(notification);
      const answer = answers.shift();
      const aborted = new Promise<void>((_resolve, reject) =>
        signal.addEventListener("abort", () => reject(signal.reason)),
      );
      aborted.catch(() => {});
      await (answer === undefined ? undefined : Promise.race([answer(), aborted]));
    },
    run: () => Promise.reject(new Error("no subagents here")),
    [Symbol.asyncDispose]: () => Promise.resolve(),
  };
}

const lossy = (name: string): ToolNotification => ({ type: "LspServerReady", server_name: name });
const critical = (name: string): ToolNotification => ({ type: "LspServerCrashed", server_name: name });
const namesOf = (link: FakeLink): unknown[] =>
  link.sent.map(({ notificationJson }) => JSON.parse(notificationJson).server_name);
const never = (): Promise<void> => new Promise(() => {});

function outbox() {
  const clock = new ManualClock();
  return { clock, link: fakeLink(), outbox: new NotificationOutbox({ clock, logger: silentLogger }) };
}

describe("NotificationOutbox", () => {
  it("keeps what comes before there is a link, and drops everything when there will be none", async () => {
    const test = outbox();
    test.outbox.add(lossy("a"));
    test.outbox.open(test.link);
    await test.clock.advance(0);
    expect(namesOf(test.link)).toEqual(["a"]);
    const without = outbox();
    without.outbox.add(lossy("a"));
    without.outbox.open(undefined);
    without.outbox.open(without.link);
    await without.clock.advance(0);
    expect(without.link.sent).toEqual([]);
  });

  it("has one call on its way at a time", async () => {
    const test = outbox();
    const first = Promise.withResolvers<void>();
    test.link.answers.push(() => first.promise);
    test.outbox.open(test.link);
    test.outbox.add(lossy("a"));
    test.outbox.add(lossy("b"));
    await test.clock.advance(0);
    expect(namesOf(test.link)).toEqual(["a"]);
    first.resolve();
    await test.clock.advance(0);
    expect(test.link.sent.map(({ sequence }) => sequence)).toEqual([1, 2]);
  });

  it("drops a notification after three attempts and leaves a hole", async () => {
    const test = outbox();
    const refuse = () => Promise.reject(new TriviumError("internal", "no"));
    test.link.answers.push(refuse, refuse, refuse);
    test.outbox.open(test.link);
    test.outbox.add(lossy("a"));
    test.outbox.add(lossy("b"));
    await test.clock.advance(599);
    expect(test.link.sent.map(({ sequence }) => sequence)).toEqual([1, 1]);
    await test.clock.advance(1);
    expect(test.link.sent.map(({ sequence }) => sequence)).toEqual([1, 1, 1, 2]);
    expect(test.clock.pendingTimers).toBe(0);
  });

  it("holds 1024: a further lossy one is lost, a critical one takes the place of the oldest lossy one", async () => {
    const test = outbox();
    for (let index = 0; index < 1024; index++)
      test.outbox.add(index === 0 ? critical("first") : lossy(String(index)));
    test.outbox.add(lossy("too late"));
    test.outbox.add(critical("important"));
    test.outbox.open(test.link);
    await test.clock.advance(0);
    const names = namesOf(test.link);
    expect(names).toHaveLength(1024);
    expect(names.slice(0, 2)).toEqual(["first", "2"]);
    expect(names.at(-1)).toBe("important");
    expect(names).not.toContain("too late");
    // What never left took no number.
    expect(test.link.sent.at(-1)?.sequence).toBe(1024);
  });

  it("gives up the oldest critical one when all are critical", async () => {
    const test = outbox();
    for (let index = 0; index < 1025; index++) test.outbox.add(critical(String(index)));
    test.outbox.open(test.link);
    await test.clock.advance(0);
    expect(namesOf(test.link)[0]).toBe("1");
  });

  it("lets critical ones leave when it closes, for two seconds", async () => {
    const test = outbox();
    const first = Promise.withResolvers<void>();
    test.link.answers.push(() => first.promise, never);
    test.outbox.open(test.link);
    for (const each of [lossy("a"), lossy("b"), critical("c"), critical("d")]) test.outbox.add(each);
    await test.clock.advance(0);
    let isClosed = false;
    const closed = test.outbox.close().then(() => (isClosed = true));
    first.resolve();
    await test.clock.advance(1_999);
    expect(namesOf(test.link)).toEqual(["a", "c"]);
    expect(isClosed).toBe(false);
    await test.clock.advance(1);
    await closed;
    test.outbox.add(critical("late"));
    await test.clock.advance(0);
    expect(namesOf(test.link)).toEqual(["a", "c"]);
    expect(test.clock.pendingTimers).toBe(0);
  });

  it("closes at once when nothing is left to say", async () => {
    const test = outbox();
    test.outbox.open(test.link);
    await test.outbox.close();
    expect(test.clock.pendingTimers).toBe(0);
  });

  it("gives up no other one for one that is too large even alone", async () => {
    const test = outbox();
    test.outbox.add(critical("a"));
    test.outbox.add(critical("x".repeat(33 * 1024 * 1024)));
    test.outbox.open(test.link);
    await test.clock.advance(0);
    expect(namesOf(test.link)).toEqual(["a"]);
  });
});
