import { toUint64 } from "./uint64.ts";

/** The output budget of a request; nothing when the caller leaves it to the host. */
export function toBudget(maxOutputTokens: number | undefined): { maxOutputTokens?: bigint } {
  return maxOutputTokens === undefined
    ? {}
    : { maxOutputTokens: toUint64("maxOutputTokens", maxOutputTokens) };
}
