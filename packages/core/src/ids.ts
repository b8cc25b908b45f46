/** Port for identifiers and randomness, so that tests can fix them. */
export interface IdSource {
  /** Random UUID v4, lower case with dashes. */
  uuid(): string;
  /** UUID v7: sorts by the time it was made. */
  timeOrderedUuid(): string;
  /** Random lower-case hexadecimal text. */
  hex(byteCount: number): string;
}

/** Identifiers from the platform's cryptographic random source. */
export const randomIds: IdSource = {
  uuid: () => crypto.randomUUID(),
  timeOrderedUuid() {
    const bytes = crypto.getRandomValues(new Uint8Array(16));
    const view = new DataView(bytes.buffer);
    const now = Date.now();
    // RFC 9562 5.7: 48 bits of milliseconds, version 7, variant 10
    view.setUint32(0, Math.floor(now / 2 ** 16));
    view.setUint16(4, now % 2 ** 16);
    view.setUint8(6, 0x70 | (view.getUint8(6) & 0x0f));
    view.setUint8(8, 0x80 | (view.getUint8(8) & 0x3f));
    return toHex(bytes).replace(/^(.{8})(.{4})(.{4})(.{4})/, "$1-$2-$3-$4-");
  },
  hex: (byteCount) => toHex(crypto.getRandomValues(new Uint8Array(byteCount))),
};

/** `Uint8Array.prototype.toHex` is missing in Node 22. */
function toHex(bytes: Uint8Array): string {
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("");
}
