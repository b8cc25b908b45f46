import type { FileHandle } from "node:fs/promises";

/** Writes all of it at a position, in as few steps as the system takes. */
export async function writeAt(handle: FileHandle, content: Uint8Array, position: number): Promise<void> {
  let written = 0;
  while (written < content.length) {
    const at = position + written;
    const { bytesWritten } = await handle.write(content, written, content.length - written, at);
    written += bytesWritten;
  }
}
