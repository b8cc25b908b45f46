import { expect, it } from "vitest";
import type { Lane } from "./lane.ts";
import { Outbox } from "./outbox.ts";

/** A lane whose reader takes frames when the test says so. */
function slowLane(): { lane: Lane; take: (error?: Error) => void } {
  const written: ((error: Error | undefined) => void)[] = [];
  const lane: Lane = {
    payloads: (async function* () {})(),
    write: (_frame, onWritten) => void written.push(onWritten),
    close: () => Promise.resolve(),
    destroy: () => {},
  };
  return { lane, take: (error) => written.shift()?.(error) };
}

it("an outbox lets its client be heard again once it has read enough", async () => {
  const { lane, take } = slowLane();
  const outbox = new Outbox({ pauseBytes: 10, maxBytes: 100 }, () => {});
  outbox.send(lane, "12345678");
  outbox.send(lane, "12345678");
  expect(outbox.unsentBytes).toBe(24);
  let isReadable = false;
  const readable = outbox.readable().then(() => {
    isReadable = true;
  });
  take();
  await Promise.resolve();
  expect(isReadable).toBe(false);
  take();
  await readable;
  expect(outbox.unsentBytes).toBe(0);
});

it("an outbox gives a client up that leaves too much unread", () => {
  const errors: Error[] = [];
  const outbox = new Outbox({ pauseBytes: 10, maxBytes: 20 }, (error) => errors.push(error));
  const { lane } = slowLane();
  outbox.send(lane, "12345678");
  expect(errors).toEqual([]);
  outbox.send(lane, "12345678");
  expect(errors.map(({ message }) => message)).toEqual(["the client has left more than 20 bytes unread"]);
});

it("an outbox that is closed sends nothing and holds nobody up", async () => {
  const { lane } = slowLane();
  const outbox = new Outbox({ pauseBytes: 0, maxBytes: 20 }, () => {});
  outbox.send(lane, "1");
  const readable = outbox.readable();
  outbox.close();
  await readable;
  outbox.send(lane, "2");
  expect(outbox.unsentBytes).toBe(5);
});

it("an outbox tells of a lane that broke", () => {
  const errors: Error[] = [];
  const outbox = new Outbox({ pauseBytes: 10, maxBytes: 20 }, (error) => errors.push(error));
  const { lane, take } = slowLane();
  outbox.send(lane, "1");
  take(new Error("EPIPE"));
  expect(errors).toMatchObject([{ message: "EPIPE" }]);
});
