import { TriviumError } from "@trivium/core";

/** Longest identifier or name, in bytes of UTF-8. */
export const MAX_ID_BYTES = 256;

/** UUIDs as everybody writes them. */
const usualUuid = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/;
/** UUIDs as the usual parsers take them: dashes, none, in braces, as a URN. */
const uuidForm =
  /^(?:urn:uuid:)?([0-9a-f]{8})-?([0-9a-f]{4})-?([0-9a-f]{4})-?([0-9a-f]{4})-?([0-9a-f]{12})$/i;

/**
 * An identifier as the client sent it.
 *
 * @throws {@link TriviumError} `invalidInput` when it is empty or too long.
 */
export function requireId(field: string, value: string): string {
  if (value === "") {
    throw new TriviumError("invalidInput", `${field} is empty; it takes 1 to ${MAX_ID_BYTES} bytes`);
  }
  return requireShort(field, value);
}

/** @throws {@link TriviumError} `invalidInput` when it is too long; it may be empty. */
export function requireShort(field: string, value: string): string {
  // A character takes at most three bytes for each of its code units, so most values need no measuring.
  if (value.length * 3 > MAX_ID_BYTES) {
    const bytes = Buffer.byteLength(value);
    if (bytes > MAX_ID_BYTES) {
      throw new TriviumError(
        "invalidInput",
        `${field} has ${bytes} bytes; it takes at most ${MAX_ID_BYTES} bytes`,
      );
    }
  }
  return value;
}

/**
 * The lower-case form with dashes of a UUID, however it was written.
 *
 * @throws {@link TriviumError} `invalidInput` when it is empty, too long or no UUID.
 */
export function requireUuid(field: string, value: string): string {
  if (usualUuid.test(value)) return value;
  const text = requireId(field, value);
  const braced = text.startsWith("{") && text.endsWith("}") ? text.slice(1, -1) : text;
  const match = uuidForm.exec(braced);
  if (match === null) throw new TriviumError("invalidInput", `${field} ${text} is not a UUID`);
  return match.slice(1).join("-").toLowerCase();
}
