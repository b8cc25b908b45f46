/** A JSON object. */
export type JsonObject = Readonly<Record<string, unknown>>;

/** True for an object that is neither null nor an array. */
export function isJsonObject(value: unknown): value is JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** What a `$ref` of a schema points at in its root; undefined for anything but `#` and `#/…` that exists there. */
export function findReference(root: unknown, reference: string): { readonly target: unknown } | undefined {
  if (reference === "#") return { target: root };
  if (!reference.startsWith("#/")) return undefined;
  let target: unknown = root;
  for (const part of reference.slice(2).split("/")) {
    const key = decodeSegment(part);
    if (key === undefined || !isContainer(target) || !Object.hasOwn(target, key)) return undefined;
    target = target[key];
  }
  return { target };
}

function decodeSegment(part: string): string | undefined {
  try {
    return decodeURIComponent(part).replaceAll("~1", "/").replaceAll("~0", "~");
  } catch {
    return undefined;
  }
}

function isContainer(value: unknown): value is JsonObject {
  return typeof value === "object" && value !== null;
}
