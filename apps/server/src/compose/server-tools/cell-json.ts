/** Levels of nesting that a program's promise can be settled with. */
const MAX_LEVELS = 127;

/** The value as JSON text that a program takes: halves of characters become U+FFFD. Undefined when nested too deeply. */
export function toCellJson(value: unknown): string | undefined {
  if (depthOf(value) > MAX_LEVELS) return undefined;
  return JSON.stringify(value, (_key, part: unknown) => {
    if (typeof part === "string") return part.toWellFormed();
    if (!isObject(part) || Object.keys(part).every((key) => key.isWellFormed())) return part;
    return Object.fromEntries(Object.entries(part).map(([key, inner]) => [key.toWellFormed(), inner]));
  });
}

/** Levels of arrays and objects, at most one more than allowed. */
function depthOf(value: unknown): number {
  let level: object[] = typeof value === "object" && value !== null ? [value] : [];
  for (let depth = 0; depth <= MAX_LEVELS; depth++) {
    if (level.length === 0) return depth;
    level = level.flatMap((item) =>
      Object.values(item).filter((part) => typeof part === "object" && part !== null),
    );
  }
  return MAX_LEVELS + 1;
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
