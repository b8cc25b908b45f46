import { ManualClock } from "@trivium/core/testing";
import { expect, it } from "vitest";
import { encodeFrame } from "../frame.ts";
import type { WebSocket, WebSocketListener } from "./web-socket.ts";
import { WebSocketLane } from "./web-socket-lane.ts";

/** A socket that a test plays the peer of, with what was done to it. */
class PlayedSocket implements WebSocket {
  readonly done: string[] = [];
  peer: WebSocketListener = { message() {}, alive() {}, closed() {} };

  listen(listener: WebSocketListener): void {
    this.peer = listener;
  }
  send(): void {}
  ping(): void {
    this.done.push("ping");
  }
  pause(): void {
    this.done.push("pause");
  }
  resume(): void {
    this.done.push("resume");
  }
  close(): void {
    this.done.push("close");
  }
  terminate(): void {
    this.done.push("terminate");
  }
}

it("a lane cuts a peer that gives no sign of life, and only that one", async () => {
  const clock = new ManualClock();
  const socket = new PlayedSocket();
  new WebSocketLane(socket, clock);
  await clock.advance(61_000);
  socket.peer.alive();
  await clock.advance(60_000);
  expect(socket.done).toEqual(["ping", "ping", "ping", "ping"]);
  await clock.advance(30_000);
  expect(socket.done.at(-1)).toBe("terminate");
  socket.peer.closed(undefined);
  expect(clock.pendingTimers).toBe(0);
});

it("a lane stops reading while a megabyte waits, and loses nothing", async () => {
  const socket = new PlayedSocket();
  const lane = new WebSocketLane(socket, new ManualClock());
  const texts = ["a", "b", "c"].map((letter) => `"${letter.repeat(600_000)}"`);
  for (const text of texts) socket.peer.message(encodeFrame(text), true);
  expect(socket.done).toContain("pause");
  socket.peer.closed(undefined);
  const seen: string[] = [];
  for await (const payload of lane.payloads) seen.push(Buffer.from(payload).toString());
  expect(seen).toEqual(texts);
  expect(socket.done.at(-1)).toBe("resume");
});

it("a lane that broke says so after what came before", async () => {
  const socket = new PlayedSocket();
  const lane = new WebSocketLane(socket, new ManualClock());
  const payloads = lane.payloads[Symbol.asyncIterator]();
  socket.peer.message(encodeFrame("1"), true);
  socket.peer.closed(new Error("reset"));
  expect((await payloads.next()).value?.toString()).toBe("1");
  await expect(payloads.next()).rejects.toMatchObject({ name: "ProtocolError", cause: { message: "reset" } });
});

it("a lane that is closed while it does not read hears the goodbye of its peer", async () => {
  const socket = new PlayedSocket();
  const lane = new WebSocketLane(socket, new ManualClock());
  for (const letter of ["a", "b"]) socket.peer.message(encodeFrame(`"${letter.repeat(600_000)}"`), true);
  expect(socket.done).toEqual(["pause"]);
  const closed = lane.close();
  expect(socket.done).toEqual(["pause", "close", "resume"]);
  // What still comes before the goodbye is read past.
  for (const letter of ["c", "d"]) socket.peer.message(encodeFrame(`"${letter.repeat(600_000)}"`), true);
  expect(socket.done).toHaveLength(3);
  socket.peer.closed(undefined);
  await closed;
});
