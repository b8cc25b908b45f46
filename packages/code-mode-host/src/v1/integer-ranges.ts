/** Both ends are allowed. */
export interface IntegerRange {
  readonly min: bigint;
  readonly max: bigint;
}

/** The ranges that integers of messages may have; others cannot be decoded. */
export const integerRanges: Readonly<Record<"i32" | "i64" | "u64" | "version", IntegerRange>> = {
  i32: { min: -(2n ** 31n), max: 2n ** 31n - 1n },
  i64: { min: -(2n ** 63n), max: 2n ** 63n - 1n },
  u64: { min: 0n, max: 2n ** 64n - 1n },
  version: { min: 1n, max: 2n ** 32n - 1n },
};
