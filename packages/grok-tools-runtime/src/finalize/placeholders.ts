/** Values for the `{…}` placeholders of descriptions. */
export interface PlaceholderValues {
  readonly maxLinesRead: number;
  /** Undefined where the tool has no cap of its own. */
  readonly maxOutputBytes: number;
  readonly maxWaitMs: number;
}

const FALLBACK_MAX_OUTPUT_BYTES = 40_000;

/** Puts the limits into a description. */
export function replacePlaceholders(text: string, values: PlaceholderValues): string {
  const { maxLinesRead, maxOutputBytes, maxWaitMs } = values;
  const cap = Number.isFinite(maxOutputBytes) ? maxOutputBytes : FALLBACK_MAX_OUTPUT_BYTES;
  return text
    .replaceAll("{max_lines_read}", String(maxLinesRead))
    .replaceAll("{max_output_bytes}", String(cap))
    .replaceAll("{max_chars_per_line}", "2000")
    .replaceAll(WAIT_PLACEHOLDER, describeWait(maxWaitMs));
}

/** A property whose description mentions this gets the ceiling as its `maximum` too. */
export const WAIT_PLACEHOLDER = "{max_wait_ms}";

function describeWait(maxWaitMs: number): string {
  if (maxWaitMs < 60_000) return `${maxWaitMs} (~${Math.floor(maxWaitMs / 1000)} s)`;
  return `${maxWaitMs} (~${Math.floor(maxWaitMs / 60_000)} min)`;
}
