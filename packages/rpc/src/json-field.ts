import { TriviumError } from "@trivium/core";

/** Any value JSON can express. */
export type JsonValue = null | boolean | number | string | JsonValue[] | { [key: string]: JsonValue };

/**
 * Parses a field of a contract that carries JSON as text. `field` names it in the error.
 *
 * @throws {@link TriviumError} `invalidInput` when the text is no JSON.
 */
export function parseJsonField(field: string, text: string): JsonValue {
  try {
    // JSON.parse gives nothing else.
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion
    return JSON.parse(text) as JsonValue;
  } catch (cause) {
    const detail = cause instanceof Error ? cause.message : String(cause);
    throw new TriviumError("invalidInput", `${field} is not JSON: ${detail}`, { cause });
  }
}
