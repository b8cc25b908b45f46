import type { IdSource } from "../ids.ts";

/** Identifiers that count up from 1, in the forms real ones have. */
export function sequentialIds(): IdSource {
  let count = 0;
  const next = (): string => String(++count);
  return {
    uuid: () => `00000000-0000-4000-8000-${next().padStart(12, "0")}`,
    timeOrderedUuid: () => `00000000-0000-7000-8000-${next().padStart(12, "0")}`,
    hex: (byteCount) => next().padStart(byteCount * 2, "0"),
  };
}
