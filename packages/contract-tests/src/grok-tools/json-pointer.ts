/** What a JSON pointer leads to; undefined when that does not exist. */
export function atPointer(value: unknown, pointer: string): unknown {
  const keys = pointer
    .split("/")
    .slice(1)
    .map((key) => key.replaceAll("~1", "/").replaceAll("~0", "~"));
  return keys.reduce((current: unknown, key) => {
    if (typeof current !== "object" || current === null || !Object.hasOwn(current, key)) return undefined;
    return (current as Record<string, unknown>)[key];
  }, value);
}
