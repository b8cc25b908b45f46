/** Less is not worth the trouble. */
const MIN_OWNED_BYTES = 64 * 1024;

const owned = new WeakSet<ArrayBufferLike>();

/** Memory that nothing else lies in, with any content. {@link freeBytes} gives it back. */
export function allocateBytes(byteLength: number): Buffer {
  if (byteLength < MIN_OWNED_BYTES) return Buffer.allocUnsafe(byteLength);
  const bytes = Buffer.allocUnsafeSlow(byteLength);
  owned.add(bytes.buffer);
  return bytes;
}

/**
 * Gives memory of {@link allocateBytes} back at once; all views of it are empty from then on. Other memory is left to
 * the garbage collector.
 *
 * The collector counts buffers like objects, but looks at all objects to get rid of a few of them: in a server of 40 MB
 * that handles messages of 10 MiB that costs ten times as much as the messages themselves.
 */
export function freeBytes(bytes: Uint8Array | undefined): void {
  const buffer = bytes?.buffer;
  if (!(buffer instanceof ArrayBuffer) || !owned.delete(buffer)) return;
  buffer.transfer(0);
}
