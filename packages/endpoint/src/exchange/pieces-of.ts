/** Largest piece handed to the socket at once: a slow reader shows progress piece by piece. */
export const PIECE_BYTES: number = 128 * 1024;

/** Cuts bytes into pieces, without copying them. */
export function* piecesOf(bytes: Uint8Array): Generator<Uint8Array, void, undefined> {
  for (let offset = 0; offset < bytes.byteLength; offset += PIECE_BYTES) {
    yield bytes.subarray(offset, offset + PIECE_BYTES);
  }
}
