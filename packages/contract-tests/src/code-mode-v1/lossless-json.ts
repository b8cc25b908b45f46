/** A number that JavaScript cannot hold, as it was written. `JSON.stringify` writes it back in the same way. */
interface RawNumber {
  readonly rawJSON: string;
}

/** The part of the platform's `JSON` that the library's types do not know yet. */
const json = JSON as unknown as {
  rawJSON(text: string): RawNumber;
  parse(
    text: string,
    reviver: (key: string, value: unknown, context: { source?: string }) => unknown,
  ): unknown;
};

/** `JSON.parse` that keeps integers beyond 2^53. */
export function parseLossless(text: string): unknown {
  return json.parse(text, (_key, value, { source }) => {
    const isExact = typeof value !== "number" || source === undefined || String(value) === source;
    return isExact ? value : json.rawJSON(source);
  });
}
