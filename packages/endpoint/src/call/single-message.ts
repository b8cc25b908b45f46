import { Code, ConnectError } from "@connectrpc/connect";

/** One byte of flags and four of length. */
const PREFIX_BYTES = 5;
const COMPRESSED_FLAG = 1;

/**
 * The only message of a request body, without its envelope. A message past the limit is refused by its announced
 * length, before its bytes are waited for.
 *
 * @throws ConnectError with the status of what is wrong; whatever the body fails with
 */
export async function readSingleMessage(
  body: AsyncIterator<Uint8Array, undefined> & { readonly isExhausted: boolean },
  { kind, readMaxBytes }: { readonly kind: "unary" | "server-streaming"; readonly readMaxBytes: number },
): Promise<Uint8Array> {
  let received: Uint8Array = new Uint8Array(0);
  let message: Uint8Array | undefined;
  let filledBytes = 0;
  for (;;) {
    const { done, value: chunk } = await body.next();
    if (done === true) break;
    if (message !== undefined) {
      filledBytes = fill({ target: message, offset: filledBytes }, chunk, kind);
      continue;
    }
    received = received.byteLength === 0 ? chunk : Buffer.concat([received, chunk]);
    if (received.byteLength < PREFIX_BYTES) continue;
    const length = lengthOf(received, readMaxBytes);
    const rest = received.subarray(PREFIX_BYTES);
    if (rest.byteLength === length) {
      // The usual case: all of it in one piece, which is not copied.
      message = rest;
      filledBytes = length;
      // Most calls are over here: the end of the request, which is an event of its own, is not waited for.
      if (body.isExhausted) {
        void body.return?.();
        return message;
      }
    } else {
      message = Buffer.allocUnsafeSlow(length);
      filledBytes = fill({ target: message, offset: 0 }, rest, kind);
    }
  }
  if (message === undefined && received.byteLength === 0) {
    throw new ConnectError(`protocol error: missing input message for ${kind} method`, Code.Unimplemented);
  }
  if (message === undefined || filledBytes < message.byteLength) {
    throw new ConnectError("protocol error: incomplete envelope", Code.InvalidArgument);
  }
  return message;
}

function lengthOf(prefix: Uint8Array, readMaxBytes: number): number {
  const view = new DataView(prefix.buffer, prefix.byteOffset, PREFIX_BYTES);
  if ((view.getUint8(0) & COMPRESSED_FLAG) !== 0) {
    const message = "received compressed envelope, but do not know how to decompress";
    throw new ConnectError(message, Code.Internal);
  }
  const length = view.getUint32(1);
  if (length > readMaxBytes) {
    const message = `message size ${length} is larger than configured readMaxBytes ${readMaxBytes}`;
    throw new ConnectError(message, Code.ResourceExhausted);
  }
  return length;
}

interface Slot {
  readonly target: Uint8Array;
  readonly offset: number;
}

/** Where the next chunk goes. */
function fill({ target, offset }: Slot, chunk: Uint8Array, kind: string): number {
  if (offset + chunk.byteLength > target.byteLength) {
    const message = `protocol error: received extra input message for ${kind} method`;
    throw new ConnectError(message, Code.Unimplemented);
  }
  target.set(chunk, offset);
  return offset + chunk.byteLength;
}
