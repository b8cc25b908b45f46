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
      const header = this.#peek(HEADER_BYTES);
      if (header === undefined) return;
      const jsonBytes = header.readUInt32LE(0);
      const attachedBytes = header.readUInt32LE(4);
      const frameBytes = HEADER_BYTES + jsonBytes + attachedBytes;
      if (frameBytes > this.#maxFrameBytes) {
        this.#socket.destroy();
        return;
      }
      const frame = this.#peek(frameBytes);
      if (frame === undefined) return;
      this.#pending = [frame.subarray(frameBytes)];
      this.#pendingBytes -= frameBytes;
      const json = frame.subarray(HEADER_BYTES, HEADER_BYTES + jsonBytes).toString();
      const message = parseMessage<Incoming>(json);
      if (message === undefined) {
        this.#socket.destroy();
        return;
      }
      handlers.onMessage(message, frame.subarray(HEADER_BYTES + jsonBytes, frameBytes));
    }
  }

  /** The pending bytes as one buffer of at least `length`, or undefined when fewer are there. */
  #peek(length: number): Buffer | undefined {
    if (this.#pendingBytes < length) return undefined;
    const [first] = this.#pending;
    if (this.#pending.length === 1 && first !== undefined) return first;
    const joined = Buffer.concat(this.#pending);
    this.#pending = [joined];
    return joined;
  }
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
