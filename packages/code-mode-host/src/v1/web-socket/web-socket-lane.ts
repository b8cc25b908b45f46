import { AsyncQueue, type Clock } from "@trivium/core";
import { PREFIX_BYTES } from "../frame.ts";
import type { Lane } from "../lane.ts";
import { ProtocolError } from "../protocol-error.ts";
import type { WebSocket } from "./web-socket.ts";

/** Messages, and bytes of messages, that may wait to be handled before the socket is no longer read. */
const BACKLOG = 1024;
const BACKLOG_BYTES = 1024 * 1024;
/** Interval of the question whether the client is there. After two without any sign of it the socket is cut. */
const PING_MS = 30_000;

/** Frames over a WebSocket: every message is one frame, its prefix included. */
export class WebSocketLane implements Lane {
  readonly payloads: AsyncIterable<Uint8Array>;
  readonly #received = new AsyncQueue<Uint8Array>(BACKLOG);
  readonly #socket: WebSocket;
  readonly #clock: Clock;
  readonly #closed = Promise.withResolvers<void>();
  #timer: Disposable | undefined;
  #silentPings = 0;
  #unreadBytes = 0;
  #isPaused = false;
  #isClosing = false;

  constructor(socket: WebSocket, clock: Clock) {
    this.#socket = socket;
    this.#clock = clock;
    this.payloads = this.#read();
    socket.listen({
      message: (data, isBinary) => this.#receive(data, isBinary),
      alive: () => {
        this.#silentPings = 0;
      },
      closed: (error) => this.#wasClosed(error),
    });
    this.#watch();
  }

  write(frame: Buffer, onWritten: (error: Error | undefined) => void): void {
    this.#socket.send(frame, onWritten);
  }

  close(): Promise<void> {
    this.#isClosing = true;
    this.#socket.close();
    // The peer's goodbye comes behind what it has sent before.
    if (this.#isPaused) this.#socket.resume();
    this.#isPaused = false;
    return this.#closed.promise;
  }

  destroy(): void {
    this.#socket.terminate();
  }

  async *#read(): AsyncGenerator<Uint8Array> {
    for await (const payload of this.#received) {
      this.#unreadBytes -= payload.length;
      if (this.#isPaused && this.#unreadBytes <= BACKLOG_BYTES) {
        this.#isPaused = false;
        this.#socket.resume();
      }
      yield payload;
    }
  }

  #receive(data: Buffer, isBinary: boolean): void {
    this.#silentPings = 0;
    if (this.#isClosing) return;
    const problem = isBinary ? problemOf(data) : "a text message came; frames are binary";
    if (problem !== undefined) {
      this.#received.fail(new ProtocolError(problem));
      return;
    }
    const payload = data.subarray(PREFIX_BYTES);
    this.#unreadBytes += payload.length;
    const hasRoom = this.#received.tryPush(payload);
    if (hasRoom && this.#unreadBytes <= BACKLOG_BYTES) return;
    this.#isPaused = true;
    this.#socket.pause();
    if (!hasRoom) void this.#received.push(payload);
  }

  #wasClosed(error: Error | undefined): void {
    this.#timer?.[Symbol.dispose]();
    if (error === undefined) this.#received.end();
    else this.#received.fail(new ProtocolError("the WebSocket broke", { cause: error }));
    this.#closed.resolve();
  }

  #watch(): void {
    this.#timer = this.#clock.setTimer(PING_MS, () => {
      if (this.#silentPings >= 2) {
        this.#socket.terminate();
        return;
      }
      this.#silentPings++;
      this.#socket.ping();
      this.#watch();
    });
  }
}

/** What is wrong with a message that should be one frame. */
function problemOf(data: Buffer): string | undefined {
  if (data.length < PREFIX_BYTES) return "a message without a prefix came";
  const saidBytes = data.readUInt32LE();
  const payloadBytes = data.length - PREFIX_BYTES;
  return saidBytes === payloadBytes ? undefined : `a message says ${saidBytes} bytes and has ${payloadBytes}`;
}
