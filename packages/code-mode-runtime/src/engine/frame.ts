/** Kinds of frames from the engine to a worker. */
export const commandKind = {
  start: 1,
  terminate: 2,
  resolveTool: 3,
  rejectTool: 4,
  releaseSession: 5,
  relieve: 6,
  ping: 7,
} as const;

/** Kinds of frames from a worker to the engine. */
export const reportKind = {
  hello: 64,
  ready: 65,
  text: 66,
  image: 67,
  audio: 68,
  yieldRequested: 69,
  stored: 70,
  notified: 71,
  toolCalled: 72,
  completed: 73,
  failed: 74,
  terminated: 75,
  lost: 76,
  stuck: 77,
  pong: 78,
} as const;

/**
 * One message between the engine and a worker: who it is about, what it says, and texts.
 *
 * On the wire: u32 length of the rest, u32 cell, u8 kind, then for each field a u32 byte length and UTF-8. All
 * numbers are little-endian. A missing field is told by the kind, never by an empty one.
 */
export interface Frame {
  /** Number of the cell within the engine; 0 for what concerns the whole worker. */
  readonly cell: number;
  readonly kind: number;
  readonly fields: readonly string[];
}

const headerBytes = 9;

/** The bytes of one frame. */
export function encodeFrame(frame: Frame): Buffer {
  let size = headerBytes;
  const lengths: number[] = [];
  for (const field of frame.fields) {
    const length = Buffer.byteLength(field);
    lengths.push(length);
    size += 4 + length;
  }
  const bytes = Buffer.allocUnsafe(size);
  bytes.writeUInt32LE(size - 4, 0);
  bytes.writeUInt32LE(frame.cell, 4);
  bytes.writeUInt8(frame.kind, 8);
  let offset = headerBytes;
  frame.fields.forEach((field, index) => {
    offset = bytes.writeUInt32LE(lengths[index] ?? 0, offset);
    offset += bytes.write(field, offset);
  });
  return bytes;
}

/** Cuts a stream of bytes into frames. Chunks are joined only when a frame is complete. */
export class FrameReader {
  readonly #maxFrameBytes: number;
  #chunks: Buffer[] = [];
  #buffered = 0;

  /** @param maxFrameBytes longest frame that is accepted */
  constructor(maxFrameBytes: number) {
    this.#maxFrameBytes = maxFrameBytes;
  }

  /**
   * The frames that are complete with this chunk.
   *
   * @throws RangeError for a frame that is too long or malformed: the peer is broken, the connection is of no use.
   */
  *push(chunk: Buffer): Generator<Frame, void, undefined> {
    this.#chunks.push(chunk);
    this.#buffered += chunk.length;
    while (this.#buffered >= 4) {
      const length = this.#peekLength();
      if (length < headerBytes - 4 || length > this.#maxFrameBytes) {
        throw new RangeError(`a frame of ${length} bytes is outside 5..${this.#maxFrameBytes}`);
      }
      if (this.#buffered < 4 + length) return;
      yield decodeFrame(this.#take(4 + length));
    }
  }

  #peekLength(): number {
    const first = this.#chunks[0];
    if (first !== undefined && first.length >= 4) return first.readUInt32LE(0);
    const joined = Buffer.concat(this.#chunks);
    this.#chunks = [joined];
    return joined.readUInt32LE(0);
  }

  #take(size: number): Buffer {
    let first = this.#chunks[0] ?? Buffer.alloc(0);
    if (first.length < size) {
      first = Buffer.concat(this.#chunks);
      this.#chunks = [first];
    }
    if (first.length === size) this.#chunks.shift();
    else this.#chunks[0] = first.subarray(size);
    this.#buffered -= size;
    return first.subarray(0, size);
  }
}

function decodeFrame(bytes: Buffer): Frame {
  const fields: string[] = [];
  let offset = headerBytes;
  while (offset < bytes.length) {
    const start = offset + 4;
    const end = start + bytes.readUInt32LE(offset);
    if (end > bytes.length) throw new RangeError("a field is longer than its frame");
    fields.push(bytes.toString("utf8", start, end));
    offset = end;
  }
  return { cell: bytes.readUInt32LE(4), kind: bytes.readUInt8(8), fields };
}
