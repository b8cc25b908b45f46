/** The client's end of one V1 connection. */
export interface Peer {
  /** Sends whole frames, or whatever else `bytes` are, in one piece if the carrier can. */
  send(frames: readonly Buffer[]): void;
  /** Says that nothing more comes. */
  close(): void;
  /** Calls `listener` with each payload of the host. To be set before anything is sent. */
  onPayload(listener: (payload: Buffer) => void): void;
  /** Resolves when the host has closed its end: with 0, or 1 for a broken connection, where the carrier can tell. */
  readonly ended: Promise<number | undefined>;
}

/** A frame around a JSON text. */
export function toFrame(json: string): Buffer {
  const payload = Buffer.from(json);
  const prefix = Buffer.alloc(4);
  prefix.writeUInt32LE(payload.length);
  return Buffer.concat([prefix, payload]);
}

/** Cuts a stream of bytes into payloads; returns what is left over. */
export function takePayloads(bytes: Buffer, onPayload: (payload: Buffer) => void): Buffer {
  let rest = bytes;
  while (rest.length >= 4 && rest.length >= 4 + rest.readUInt32LE()) {
    const end = 4 + rest.readUInt32LE();
    onPayload(rest.subarray(4, end));
    rest = rest.subarray(end);
  }
  return rest;
}
