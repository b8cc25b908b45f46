import { EventEmitter } from "node:events";
import type { Socket } from "node:net";
import { afterEach, expect, it, vi } from "vitest";
import { FrameChannel } from "./frame-channel.ts";

interface Received {
  readonly message: unknown;
  readonly bytes: Uint8Array;
}

afterEach(() => vi.restoreAllMocks());

it("takes messages apart, however they are cut", () => {
  const stream = Buffer.concat([
    frame({ type: "a" }, "xyz"),
    frame({ type: "b" }, ""),
    frame({ type: "c" }, "z"),
  ]);
  for (const size of [1, 3, 7, 20, stream.length]) {
    const { socket, received } = open();
    for (let at = 0; at < stream.length; at += size) socket.emit("data", stream.subarray(at, at + size));
    expect(received.map(({ message, bytes }) => [message, Buffer.from(bytes).toString()])).toEqual([
      [{ type: "a" }, "xyz"],
      [{ type: "b" }, ""],
      [{ type: "c" }, "z"],
    ]);
  }
});

it("joins the pieces of a large message once", () => {
  const { socket, received } = open();
  const stream = frame({ type: "large" }, "x".repeat(1_000_000));
  const concat = vi.spyOn(Buffer, "concat");
  for (let at = 0; at < stream.length; at += 1000) socket.emit("data", stream.subarray(at, at + 1000));
  expect(received[0]?.bytes).toHaveLength(1_000_000);
  expect(concat).toHaveBeenCalledTimes(1);
});

function open(): { socket: EventEmitter; received: Received[] } {
  const socket = Object.assign(new EventEmitter(), { destroy: () => {} });
  const received: Received[] = [];
  new FrameChannel(socket as unknown as Socket, {
    onMessage: (message, bytes) => void received.push({ message, bytes }),
    onClose: () => {},
  });
  return { socket, received };
}

function frame(message: object, attached: string): Buffer {
  const json = Buffer.from(JSON.stringify(message));
  const header = Buffer.alloc(8);
  header.writeUInt32LE(json.length, 0);
  header.writeUInt32LE(attached.length, 4);
  return Buffer.concat([header, json, Buffer.from(attached)]);
}
