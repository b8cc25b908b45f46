/** A value that `JSON.stringify` writes without loss. */
export type JsonValue = null | boolean | number | string | readonly JsonValue[] | JsonObject;

/** A JSON object. */
export interface JsonObject {
  readonly [key: string]: JsonValue;
}

/** Levels of nesting that are accepted from outside. */
const MAX_DEPTH = 200;

/** Whether a value is nested so deeply that walking it could exhaust the stack. */
export function isTooDeep(value: unknown): boolean {
  let level: unknown[] = [value];
  for (let depth = 0; depth < MAX_DEPTH; depth++) {
    level = level.flatMap((item) => (typeof item === "object" && item !== null ? Object.values(item) : []));
    if (level.length === 0) return false;
  }
  return true;
}

/** True for an object that is neither null nor an array. */
export function isJsonObject(value: unknown): value is JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value) && !ArrayBuffer.isView(value);
}
