import { isJsonObject, isTooDeep, type JsonValue } from "./json.ts";

/**
 * An object whose keys stay in the given order, for `JSON.stringify` and `Object.entries` alike.
 *
 * JavaScript moves keys that look like array positions (`"10"`, `"2"`) to the front of an object, in numeric order. Where
 * callers choose the keys and their order means something, that would change what they wrote.
 */
export function orderedObject<Value>(
  entries: readonly (readonly [key: string, value: Value])[],
): Record<string, Value> {
  const plain: Record<string, Value> = Object.fromEntries(entries);
  const keys = [...new Set(entries.map(([key]) => key))];
  const isInOrder = Object.keys(plain).every((key, index) => key === keys[index]);
  return isInOrder ? plain : new Proxy(plain, { ownKeys: () => keys });
}

/**
 * `JSON.parse`, but all objects keep the order their keys have in the text.
 *
 * @throws SyntaxError when the text is not JSON.
 */
export function parseOrderedJson(text: string): JsonValue {
  const plain = parse(text);
  if (!/"\d+"\s*:/.test(text) || isTooDeep(plain)) return plain;
  // With a letter in front no key looks like a number. A string before a colon is always a key.
  const marked = text.replace(
    /"((?:[^"\\]|\\.)*)"(\s*:)?/g,
    (string, body: string, colon: string | undefined) =>
      colon === undefined ? string : `"${MARK}${body}"${colon}`,
  );
  return unmark(parse(marked));
}

const MARK = "k";

function unmark(value: JsonValue): JsonValue {
  if (Array.isArray(value)) return value.map((item: JsonValue) => unmark(item));
  if (!isJsonObject(value)) return value;
  return orderedObject(Object.entries(value).map(([key, item]) => [key.slice(MARK.length), unmark(item)]));
}

function parse(text: string): JsonValue {
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- JSON.parse gives nothing else
  return JSON.parse(text) as JsonValue;
}
