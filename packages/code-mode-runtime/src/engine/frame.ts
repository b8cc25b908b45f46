import { isAscii } from "node:buffer";
import type { Writable } from "node:stream";

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

/** A frame to send. */
export interface OutgoingFrame extends Frame {
  /** One more field, already in UTF-8. */
  readonly lastField?: Uint8Array | undefined;
}

const headerBytes = 9;
/** Length of a frame or a field. */
const lengthBytes = 4;
/** A longer last field is sent from where it lies. */
const maxCopiedBytes = 64 * 1024;
/** Larger frames have memory of their own. More than what Node takes from its pool. */
const minOwnBytes = 256 * 1024;

/** The bytes of one frame; a long `lastField` is a piece of its own. */
export function encodeFrame({ cell, kind, fields, lastField }: OutgoingFrame): Uint8Array[] {
  let size: number = headerBytes;
  const lengths: number[] = [];
  for (const field of fields) {
    const length = Buffer.byteLength(field);
    lengths.push(length);
    size += lengthBytes + length;
  }
  const isSeparate = lastField !== undefined && lastField.byteLength > maxCopiedBytes;
  const lastBytes = lastField === undefined ? 0 : lengthBytes + lastField.byteLength;
  const byteLength = isSeparate ? size + lengthBytes : size + lastBytes;
  const bytes =
    byteLength < minOwnBytes ? Buffer.allocUnsafe(byteLength) : Buffer.allocUnsafeSlow(byteLength);
  bytes.writeUInt32LE(size + lastBytes - lengthBytes, 0);
  bytes.writeUInt32LE(cell, 4);
  bytes.writeUInt8(kind, 8);
  let offset = headerBytes;
  for (let index = 0; index < fields.length; index++) {
    const field = fields[index] ?? "";
    const length = lengths[index] ?? 0;
    offset = bytes.writeUInt32LE(length, offset);
    // As many bytes as characters: nothing has to be encoded.
    offset += bytes.write(field, offset, length === field.length ? "latin1" : "utf8");
  }
  if (lastField === undefined) return [bytes];
  offset = bytes.writeUInt32LE(lastField.byteLength, offset);
  if (isSeparate) return [bytes, lastField];
  bytes.set(lastField, offset);
  return [bytes];
}

/** Sends one frame. */
export function writeFrame(stream: Writable, frame: OutgoingFrame): void {
  const [first, last] = encodeFrame(frame);
  if (first === undefined) return;
  if (first.byteLength < minOwnBytes) stream.write(first);
  else stream.write(first, () => giveBack(first));
  if (last !== undefined) stream.write(last);
}

/** Memory of a frame of our own is given back at once, where the garbage collector would go through all objects. */
function giveBack(bytes: Uint8Array): void {
  if (bytes.buffer instanceof ArrayBuffer) bytes.buffer.transfer(0);
}

/** Cuts a stream of bytes into frames. The bytes of a frame that comes in several chunks are copied once. */
export class FrameReader {
  readonly #maxFrameBytes: number;
  /** What has come of the next frame, while not even its length is known. */
  #start: Buffer = Buffer.alloc(0);
  /** Room for a frame that has begun. */
  #frame: Buffer | undefined;
  #filledBytes = 0;

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
    let rest = chunk;
    if (this.#frame !== undefined) {
      const copied = rest.copy(this.#frame, this.#filledBytes);
      this.#filledBytes += copied;
      if (this.#filledBytes < this.#frame.length) return;
      const frame = this.#frame;
      this.#frame = undefined;
      const decoded = decodeFrame(frame);
      if (frame.length >= minOwnBytes) giveBack(frame);
      yield decoded;
      rest = rest.subarray(copied);
    } else if (this.#start.length > 0) {
      rest = Buffer.concat([this.#start, rest]);
    }
    while (rest.length >= lengthBytes) {
      const size = lengthBytes + this.#lengthOf(rest);
      if (rest.length < size) {
        // Its bytes are waited for in the room that they take: joining them later would copy them again.
        this.#frame = Buffer.allocUnsafeSlow(size);
        this.#filledBytes = rest.copy(this.#frame);
        rest = rest.subarray(rest.length);
        break;
      }
      yield decodeFrame(rest.subarray(0, size));
      rest = rest.subarray(size);
    }
    this.#start = rest;
  }

  #lengthOf(start: Buffer): number {
    const length = start.readUInt32LE(0);
    if (length < headerBytes - lengthBytes || length > this.#maxFrameBytes) {
      throw new RangeError(`a frame of ${length} bytes is outside 5..${this.#maxFrameBytes}`);
    }
    return length;
  }
}

function decodeFrame(bytes: Buffer): Frame {
  const fields: string[] = [];
  let offset = headerBytes;
  while (offset < bytes.length) {
    const start = offset + lengthBytes;
    const end = start + bytes.readUInt32LE(offset);
    if (end > bytes.length) throw new RangeError("a field is longer than its frame");
    fields.push(textOf(bytes, start, end));
    offset = end;
  }
  return { cell: bytes.readUInt32LE(4), kind: bytes.readUInt8(8), fields };
}

/** Looking for bytes beyond ASCII first makes the decoding of long texts several times as fast. */
function textOf(bytes: Buffer, start: number, end: number): string {
  const isLong = end - start > 1024;
  return bytes.toString(isLong && isAscii(bytes.subarray(start, end)) ? "latin1" : "utf8", start, end);
}
