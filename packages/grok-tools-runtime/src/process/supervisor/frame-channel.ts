import type { Socket } from "node:net";

/** Receives what the other side sends. */
export interface FrameHandlers<Incoming> {
  onMessage(message: Incoming, bytes: Uint8Array): void;
  /** Called once, when no more can come, for whatever reason. */
  onClose(): void;
}

/** Two lengths: JSON, then attached bytes. */
const HEADER_BYTES = 8;
/** Far above any message of ours; a larger length means that the stream is out of step. */
const MAX_FRAME_BYTES = 256 * 1024 * 1024;
/** Enough for a first message, before it is known who speaks. */
const MAX_FIRST_FRAME_BYTES = 4096;

/** Messages with attached bytes over a local socket, in order. */
export class FrameChannel<Incoming, Outgoing> {
  readonly #socket: Socket;
  #pending: Buffer[] = [];
  #pendingBytes = 0;
  /** Lengths of the frame that is coming in. */
  #frame: FrameLengths | undefined;
  #maxFrameBytes: number;
  #isClosed = false;

  /** @param trust `stranger`: nothing large is taken before {@link FrameChannel.trustPeer} */
  constructor(socket: Socket, handlers: FrameHandlers<Incoming>, trust: "peer" | "stranger" = "peer") {
    this.#socket = socket;
    this.#maxFrameBytes = trust === "peer" ? MAX_FRAME_BYTES : MAX_FIRST_FRAME_BYTES;
    socket.on("data", (chunk: Buffer) => {
      this.#pending.push(chunk);
      this.#pendingBytes += chunk.length;
      this.#deliver(handlers);
    });
    // The reason is of no use here: a lost peer is handled by its owner.
    socket.on("error", () => socket.destroy());
    socket.on("close", () => {
      this.#isClosed = true;
      handlers.onClose();
    });
  }

  /** Sends a message. False: nobody will get it. */
  send(message: Outgoing, bytes: Uint8Array = new Uint8Array()): boolean {
    if (this.#isClosed || !this.#socket.writable) return false;
    const json = Buffer.from(JSON.stringify(message));
    const header = Buffer.alloc(HEADER_BYTES);
    header.writeUInt32LE(json.length, 0);
    header.writeUInt32LE(bytes.length, 4);
    this.#socket.cork();
    this.#socket.write(header);
    this.#socket.write(json);
    if (bytes.length > 0) this.#socket.write(bytes);
    this.#socket.uncork();
    return true;
  }

  /** The other side has proved who it is. */
  trustPeer(): void {
    this.#maxFrameBytes = MAX_FRAME_BYTES;
  }

  /** Closes after what was sent has left. */
  end(): void {
    this.#socket.end();
  }

  /** Closes at once. */
  destroy(): void {
    this.#socket.destroy();
  }

  #deliver(handlers: FrameHandlers<Incoming>): void {
    for (;;) {
      this.#frame ??= this.#takeHeader();
      if (this.#frame === undefined) return;
      const { jsonBytes, attachedBytes } = this.#frame;
      if (HEADER_BYTES + jsonBytes + attachedBytes > this.#maxFrameBytes) {
        this.#socket.destroy();
        return;
      }
      const frame = this.#take(jsonBytes + attachedBytes);
      if (frame === undefined) return;
      this.#frame = undefined;
      const message = parseMessage<Incoming>(frame.subarray(0, jsonBytes).toString());
      if (message === undefined) {
        this.#socket.destroy();
        return;
      }
      handlers.onMessage(message, frame.subarray(jsonBytes));
    }
  }

  #takeHeader(): FrameLengths | undefined {
    const header = this.#take(HEADER_BYTES);
    if (header === undefined) return undefined;
    return { jsonBytes: header.readUInt32LE(0), attachedBytes: header.readUInt32LE(4) };
  }

  /** Takes the next `length` bytes, or undefined while fewer are there. Joins pieces only when all are there. */
  #take(length: number): Buffer | undefined {
    if (this.#pendingBytes < length) return undefined;
    this.#pendingBytes -= length;
    const [first = Buffer.alloc(0)] = this.#pending;
    const joined = first.length >= length ? first : Buffer.concat(this.#pending);
    const rest = joined.subarray(length);
    if (joined !== first) this.#pending = [];
    else this.#pending.shift();
    if (rest.length > 0) this.#pending.unshift(rest);
    return joined.subarray(0, length);
  }
}

interface FrameLengths {
  readonly jsonBytes: number;
  readonly attachedBytes: number;
}

/** Undefined for what no helper of ours would send. */
function parseMessage<Message>(json: string): Message | undefined {
  try {
    const value: unknown = JSON.parse(json);
    if (typeof value !== "object" || value === null || !("type" in value)) return undefined;
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- both ends are this package in one version
    return value as Message;
  } catch {
    // Not JSON: the other side is no helper.
    return undefined;
  }
}
