/** Shorter intervals are raised to this. */
export const MIN_SECONDS = 60;
/** A hundred years: times computed with longer ones could not be written as dates. */
export const MAX_SECONDS: number = 100 * 365 * 86_400;

const units = [
  ["day", "d", 86_400],
  ["hour", "h", 3_600],
  ["minute", "m", 60],
  ["second", "s", 1],
] as const;

/** Seconds of an interval such as `5m`; undefined when it is none. Short ones are raised to a minute. */
export function parseInterval(text: string): number | undefined {
  const [, digits, suffix] = /^(\d+)([smhd])$/.exec(text.trim()) ?? [];
  const unit = units.find(([, letter]) => letter === suffix);
  if (unit === undefined) return undefined;
  const seconds = Number(digits) * unit[2];
  if (seconds <= 0 || seconds > MAX_SECONDS) return undefined;
  return Math.max(MIN_SECONDS, seconds);
}

/** `every 5 minutes`: in the largest unit that divides it. */
export function describeInterval(seconds: number): string {
  for (const [name, , size] of units) {
    if (seconds % size !== 0) continue;
    const count = seconds / size;
    return `every ${count} ${name}${count === 1 ? "" : "s"}`;
  }
  return `every ${seconds} seconds`;
}
