import type { JsonValue } from "@trivium/rpc";

/** Reads one field; undefined when it is not what it should be. */
export type FieldReader = (value: JsonValue) => unknown;

export const readText: FieldReader = (value) => (typeof value === "string" ? value : undefined);
export const readNumber: FieldReader = (value) => (typeof value === "number" ? value : undefined);
export const readBoolean: FieldReader = (value) => (typeof value === "boolean" ? value : undefined);
export const readJson: FieldReader = (value) => value;

/** Bytes: base64, or an array of integers. */
export const readBytes: FieldReader = (value) => {
  if (typeof value === "string") return fromBase64(value);
  if (!Array.isArray(value)) return undefined;
  const bytes = value.filter((byte): byte is number => typeof byte === "number");
  return bytes.length === value.length ? Uint8Array.from(bytes) : undefined;
};

/** A length of time as milliseconds. */
export const readDuration: FieldReader = (value) => toMs(value, "secs", "nanos");

/** A point in time as milliseconds since the epoch. */
export const readTime: FieldReader = (value) => toMs(value, "secs_since_epoch", "nanos_since_epoch");

function toMs(value: JsonValue, secondsKey: string, nanosKey: string): number | undefined {
  if (typeof value !== "object" || value === null || Array.isArray(value)) return undefined;
  const { [secondsKey]: seconds, [nanosKey]: nanos } = value;
  if (typeof seconds !== "number" || typeof nanos !== "number") return undefined;
  return seconds * 1_000 + nanos / 1_000_000;
}

/** `Uint8Array.fromBase64` is missing in Node 22. */
function fromBase64(text: string): Uint8Array | undefined {
  try {
    return Uint8Array.from(atob(text), (character) => character.charCodeAt(0));
  } catch {
    // Not base64: then the field is not what it should be.
    return undefined;
  }
}
