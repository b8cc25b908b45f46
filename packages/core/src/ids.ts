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
    // RFC 9562 5.7: 48 bits of milliseconds, version 7, variant 10
    const time = Date.now().toString(16).padStart(12, "0");
    const variant = (0x80 | (randomByte() & 0x3f)).toString(16);
    const version = `7${randomHex(2).slice(1)}`;
    return `${time.slice(0, 8)}-${time.slice(8)}-${version}-${variant}${randomHex(1)}-${randomHex(6)}`;
  },
  hex: randomHex,
};

/** Drawn in advance: asking for a few bytes costs as much as asking for many. */
const drawn = new Uint8Array(1024);
let nextDrawn = drawn.length;

function randomByte(): number {
  if (nextDrawn === drawn.length) {
    crypto.getRandomValues(drawn);
    nextDrawn = 0;
  }
  const byte = drawn[nextDrawn] ?? 0;
  // Nobody finds in memory what was given out.
  drawn[nextDrawn] = 0;
  nextDrawn += 1;
  return byte;
}

function randomHex(byteCount: number): string {
  let text = "";
  for (let index = 0; index < byteCount; index += 1) text += randomByte().toString(16).padStart(2, "0");
  return text;
}
