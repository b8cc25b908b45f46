const largest = BigInt(Number.MAX_SAFE_INTEGER);

/** An unsigned 64-bit number; beyond 2^53 - 1 it is that. Absent stays absent. */
export function toNumber(value: bigint): number;
export function toNumber(value: bigint | undefined): number | undefined;
export function toNumber(value: bigint | undefined): number | undefined {
  if (value === undefined) return undefined;
  return Number(value > largest ? largest : value);
}

/** Whole nanoseconds of a time in milliseconds. */
export function toNanoseconds(timeMs: number): bigint {
  return BigInt(Math.round(Math.max(0, timeMs) * 1e6));
}
