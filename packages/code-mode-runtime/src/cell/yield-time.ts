/** Wait times from here on get a grace, so that a client's own timer of the same length does not fire first. */
const GRACE_FROM_MS = 10_000;
const GRACE_MS = 1000;

/** What Execute waits for its first outcome when the request names no time. */
export const DEFAULT_EXECUTE_YIELD_MS = 10_000;

/** The time an observation really waits: with the grace, then clamped to the session's limit (0 is a valid limit). */
export function effectiveYieldMs(requestedMs: number, maxYieldTimeMs: number | undefined): number {
  const withGraceMs = requestedMs >= GRACE_FROM_MS ? requestedMs + GRACE_MS : requestedMs;
  return maxYieldTimeMs === undefined ? withGraceMs : Math.min(withGraceMs, maxYieldTimeMs);
}
