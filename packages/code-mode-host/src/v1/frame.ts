import { ProtocolError } from "./protocol-error.ts";

/** Bytes of the little-endian length before every payload. */
export const PREFIX_BYTES = 4;

/** Largest payload of a frame: 64 MiB. */
export const MAX_PAYLOAD_BYTES: number = 64 * 1024 * 1024;

/** A message as it travels: length, then UTF-8. */
export function encodeFrame(json: string): Buffer {
  const payloadBytes = Buffer.byteLength(json);
  const frame = Buffer.allocUnsafe(PREFIX_BYTES + payloadBytes);
  frame.writeUInt32LE(payloadBytes);
  frame.write(json, PREFIX_BYTES);
  return frame;
}

/** @throws {@link ProtocolError} for a length beyond the limit. */
export function payloadBytesOf(prefix: Buffer): number {
  const payloadBytes = prefix.readUInt32LE();
  if (payloadBytes <= MAX_PAYLOAD_BYTES) return payloadBytes;
  throw new ProtocolError(
    `a frame of ${payloadBytes} bytes was announced; ${MAX_PAYLOAD_BYTES} is the limit`,
  );
}

/**
 * The payloads in a stream of bytes, however it is cut.
 *
 * @throws {@link ProtocolError} for a length beyond the limit, before any of the payload is read, and for a stream that
 * ends within a frame
 */
export async function* readFrames(chunks: AsyncIterable<Uint8Array>): AsyncGenerator<Buffer> {
  let pending: Buffer[] = [];
  let pendingBytes = 0;
  let neededBytes: number | undefined;
  for await (const chunk of chunks) {
    pending.push(Buffer.from(chunk.buffer, chunk.byteOffset, chunk.byteLength));
    pendingBytes += chunk.byteLength;
    while (pendingBytes >= (neededBytes ?? PREFIX_BYTES)) {
      // Joined only when there is enough, so that small pieces of a large payload cost no more than it.
      const bytes = pending.length === 1 && pending[0] !== undefined ? pending[0] : Buffer.concat(pending);
      const takenBytes = neededBytes ?? PREFIX_BYTES;
      const taken = bytes.subarray(0, takenBytes);
      pending = bytes.length > takenBytes ? [bytes.subarray(takenBytes)] : [];
      pendingBytes -= takenBytes;
      if (neededBytes === undefined) neededBytes = payloadBytesOf(taken);
      else {
        neededBytes = undefined;
        yield taken;
      }
    }
  }
  if (pendingBytes > 0 || neededBytes !== undefined)
    throw new ProtocolError("the input ended within a frame");
}
