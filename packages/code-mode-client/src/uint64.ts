import { TriviumError } from "@trivium/core";

/** @throws {@link TriviumError} `invalidInput` for what is no whole number from 0. */
export function toUint64(field: string, value: number): bigint {
  if (!Number.isInteger(value) || value < 0) {
    throw new TriviumError("invalidInput", `${field} is ${value}; it must be a whole number from 0`);
  }
  return BigInt(value);
}
