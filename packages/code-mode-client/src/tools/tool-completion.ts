import type { CompleteToolCallRequest } from "@trivium/proto/code-mode";

/** How a tool call is answered. */
export type Completion = CompleteToolCallRequest["outcome"];

/** Answers above this are replaced by a failure that states the sizes. */
const MAX_MESSAGE_BYTES = 64 * 1024 * 1024;
/** What the rest of a completion takes at most. */
const ENVELOPE_BYTES = 128;
/** Deepest nesting that a host takes. */
const MAX_JSON_LEVELS = 127;

const structure = /["[\]{}]/g;
/** An escape in JSON: a surrogate pair, the lone half of one, or any other. */
const escapes = /\\(?:ud[89ab][0-9a-f]{2}\\ud[c-f][0-9a-f]{2}|(ud[89a-f][0-9a-f]{2})|.)/gi;

/** A result as JSON. What no host takes becomes a failure, and half characters become U+FFFD. */
export function success(result: unknown): Completion {
  // JSON.stringify gives undefined for undefined, functions and symbols, whatever its type says.
  const json: string | undefined = JSON.stringify(result);
  const text = toWellFormed(json ?? "null");
  const outputJson = new TextEncoder().encode(text);
  const bytes = outputJson.length + ENVELOPE_BYTES;
  if (bytes > MAX_MESSAGE_BYTES) {
    return failure(`the result takes ${bytes} bytes; a message holds at most ${MAX_MESSAGE_BYTES}`);
  }
  const levels = levelsOf(text);
  if (levels > MAX_JSON_LEVELS) {
    return failure(`the result is nested ${levels} levels deep; a host takes at most ${MAX_JSON_LEVELS}`);
  }
  return { case: "succeeded", value: { $typeName: "codex.code_mode.v1.ToolCallSucceeded", outputJson } };
}

/** A message that rejects the program's promise. */
export function failure(message: string): Completion {
  const bytes = new TextEncoder().encode(message).length + ENVELOPE_BYTES;
  const text =
    bytes > MAX_MESSAGE_BYTES
      ? `the tool failed with a message of ${bytes} bytes; a message holds at most ${MAX_MESSAGE_BYTES}`
      : message.toWellFormed();
  return { case: "failed", value: { $typeName: "codex.code_mode.v1.ToolCallFailed", message: text } };
}

/** JSON whose strings hold no half of a character: `JSON.stringify` writes such a half as an escape. */
function toWellFormed(json: string): string {
  if (!/\\ud/i.test(json)) return json;
  return json.replace(escapes, (escape, lone: string | undefined) =>
    lone === undefined ? escape : "\uFFFD",
  );
}

/** Levels of arrays and objects in valid JSON. */
function levelsOf(json: string): number {
  let level = 0;
  let deepest = 0;
  structure.lastIndex = 0;
  for (let match = structure.exec(json); match !== null; match = structure.exec(json)) {
    const [character] = match;
    if (character === '"') structure.lastIndex = endOfString(json, match.index);
    else if (character === "[" || character === "{") deepest = Math.max(deepest, ++level);
    else level--;
  }
  return deepest;
}

/** The index after the string that begins at `start`. */
function endOfString(json: string, start: number): number {
  for (let at = json.indexOf('"', start + 1); at >= 0; at = json.indexOf('"', at + 1)) {
    let backslashes = 0;
    while (json[at - 1 - backslashes] === "\\") backslashes++;
    if (backslashes % 2 === 0) return at + 1;
  }
  return json.length;
}
