/** The last millisecond that an RFC 3339 time has. */
const MAX_TIME_MS = Date.parse("9999-12-31T23:59:59.999Z");

/** The time, unless it is one that no message of a contract can hold. Milliseconds since the Unix epoch. */
export function knownTime(atMs: number): number | undefined {
  return atMs >= 0 && atMs <= MAX_TIME_MS ? atMs : undefined;
}
