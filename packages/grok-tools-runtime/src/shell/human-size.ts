const UNITS = ["KB", "MB", "GB", "TB", "PB"];
/** From here on one decimal would round to 1024.0 of the unit. */
const UNIT_SWITCH = 1023.95;

/** A size for people: `12 B`, `1.5 KB`. */
export function humanSize(byteCount: number): string {
  if (byteCount < 1024) return `${byteCount} B`;
  let value = byteCount / 1024;
  let unit = 0;
  while (value >= UNIT_SWITCH && unit < UNITS.length - 1) {
    value /= 1024;
    unit += 1;
  }
  return `${value.toFixed(1)} ${UNITS[unit]}`;
}
