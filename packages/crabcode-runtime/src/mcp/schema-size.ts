/**
 * How many parts a JSON Schema has when every reference within it is replaced by what it refers to. Infinite for one
 * that refers to itself; counting stops above `max`.
 */
export function schemaSize(schema: Readonly<Record<string, unknown>>, max: number): number {
  const known = new Map<string, number>();
  const sizeOf = (value: unknown): number => {
    if (typeof value !== "object" || value === null) return 0;
    let size = 1;
    for (const [key, part] of Object.entries(value)) {
      size += key === "$ref" && typeof part === "string" ? sizeAt(part) : sizeOf(part);
      if (size > max) break;
    }
    return size;
  };
  const sizeAt = (reference: string): number => {
    const size = known.get(reference);
    if (size !== undefined) return size;
    // Met again before it is known: it refers to itself.
    known.set(reference, Infinity);
    const found = sizeOf(partAt(schema, reference));
    known.set(reference, found);
    return found;
  };
  return sizeOf(schema);
}

/** What a reference within a schema leads to; undefined for any other one. */
function partAt(schema: unknown, reference: string): unknown {
  if (!reference.startsWith("#")) return undefined;
  return reference
    .slice(1)
    .split("/")
    .filter((step) => step !== "")
    .reduce<unknown>((part, step) => {
      const key = decodeStep(step);
      const isThere = typeof part === "object" && part !== null && Object.hasOwn(part, key);
      return isThere ? Reflect.get(part, key) : undefined;
    }, schema);
}

function decodeStep(step: string): string {
  return step.replaceAll("~1", "/").replaceAll("~0", "~");
}
