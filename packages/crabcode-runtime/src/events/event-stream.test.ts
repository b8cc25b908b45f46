import { ManualClock } from "@trivium/core/testing";
import { beforeEach, describe, expect, it } from "vitest";
import type { StreamEvent } from "../crabcode-runtime.ts";
import { EventStream } from "./event-stream.ts";

const event: StreamEvent = { type: "error", payloadJson: "{}" };
let clock: ManualClock;
let stream: EventStream;

beforeEach(() => {
  clock = new ManualClock();
  stream = new EventStream({
    clock,
    heartbeat: () => ({ type: "server.heartbeat", payloadJson: "{}" }),
    onClose: () => {},
  });
});

describe("an event that comes while the reader is about to wait", () => {
  it("is given at once", async () => {
    const next = stream.next();
    stream.put(event);
    await clock.advance(10_000);
    expect(await next).toEqual({ done: false, value: event });
  });

  it("is given before the end", async () => {
    const next = stream.next();
    stream.put(event);
    stream.finish();
    expect([await next, await stream.next()]).toEqual([
      { done: false, value: event },
      { done: true, value: undefined },
    ]);
  });
});

it("gives heartbeats when nothing comes", async () => {
  const next = stream.next();
  await clock.advance(10_000);
  expect((await next).value?.type).toBe("server.heartbeat");
});
