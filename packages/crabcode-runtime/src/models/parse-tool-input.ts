import type { ToolInput } from "../conversation/message.ts";

/** Longer argument texts are not parsed. */
const MAX_INPUT_BYTES = 1024 * 1024;

/**
 * The arguments a model wrote, as an object; undefined when the text is none.
 *
 * An empty text is an empty object: several providers send that for a call without arguments.
 */
export function parseToolInput(text: string): ToolInput | undefined {
  if (text.trim() === "") return {};
  if (new TextEncoder().encode(text).byteLength > MAX_INPUT_BYTES) return undefined;
  try {
    const value: unknown = JSON.parse(text);
    return isObject(value) ? value : undefined;
  } catch {
    // What a model writes may be anything; the loop answers such a call with a validation error.
    return undefined;
  }
}

function isObject(value: unknown): value is ToolInput {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
