import type { ToolInput } from "../conversation/message.ts";

const HIGH_SURROGATE_AT_END = /[\uD800-\uDBFF]$/;

/** A JSON value whose strings, keys included, hold no lone surrogate: each becomes U+FFFD. */
export function wellFormedValue(value: unknown): unknown {
  if (typeof value === "string") return value.toWellFormed();
  if (Array.isArray(value)) return value.map(wellFormedValue);
  if (typeof value === "object" && value !== null) return wellFormedInput(value);
  return value;
}

/** As {@link wellFormedValue} for an object. */
export function wellFormedInput(input: object): ToolInput {
  return Object.fromEntries(
    Object.entries(input).map(([key, value]) => [key.toWellFormed(), wellFormedValue(value)]),
  );
}

/** Makes a text that arrives in chunks well-formed without breaking a pair that two chunks share. */
export class WellFormedChunks {
  #held = "";

  /** The part of the text so far that is certain; "" when there is none yet. */
  push(chunk: string): string {
    const text = this.#held + chunk;
    this.#held = HIGH_SURROGATE_AT_END.test(text) ? text.slice(-1) : "";
    return text.slice(0, text.length - this.#held.length).toWellFormed();
  }

  /** The text has ended: what was held back is lone. */
  end(): string {
    const rest = this.#held.toWellFormed();
    this.#held = "";
    return rest;
  }
}
