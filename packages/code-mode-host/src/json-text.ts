import { isAscii } from "node:buffer";
import { TriviumError } from "@trivium/core";
import { parseJsonField } from "@trivium/rpc";

/** Deepest nesting of arrays and objects. */
export const MAX_JSON_LEVELS = 127;

const decoder = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });
const structure = /["[\]{}]/g;
const escapes = /\\(?:u([0-9a-fA-F]{4})|.)/g;

/**
 * The text of a JSON field, checked: UTF-8, valid JSON, no lone surrogates, at most {@link MAX_JSON_LEVELS} levels.
 *
 * @throws {@link TriviumError} `invalidInput`; `field` names it in the message.
 */
export function requireJsonText(field: string, bytes: Uint8Array): string {
  const text = decodeUtf8(field, bytes);
  parseJsonField(field, text);
  requirePlainJson(field, text);
  return text;
}

/**
 * Checks a text that is known to be JSON for what programs cannot take: lone surrogates, more than
 * {@link MAX_JSON_LEVELS} levels.
 *
 * @throws {@link TriviumError} `invalidInput`; `field` names it in the message.
 */
export function requirePlainJson(field: string, text: string): void {
  if (levelsOf(text) > MAX_JSON_LEVELS) {
    throw new TriviumError("invalidInput", `${field} is not JSON nested at most ${MAX_JSON_LEVELS} levels`);
  }
  // UTF-8 holds no lone surrogate, so one can only come from an escape.
  if (hasLoneEscape(text)) {
    throw new TriviumError("invalidInput", `${field} is not JSON without lone surrogates`);
  }
}

/** JSON text with every lone surrogate in it replaced: many parsers refuse the whole text for one. */
export function withoutLoneEscapes(text: string): string {
  return hasLoneEscape(text) ? JSON.stringify(JSON.parse(text), wellFormed) : text;
}

function wellFormed(_key: string, value: unknown): unknown {
  if (typeof value === "string") return value.toWellFormed();
  if (typeof value !== "object" || value === null || Array.isArray(value)) return value;
  return Object.fromEntries(Object.entries(value).map(([key, one]) => [key.toWellFormed(), one]));
}

/**
 * Text of UTF-8 bytes, a byte order mark included. Most are ASCII, which needs no decoding.
 *
 * @throws {@link TriviumError} `invalidInput` for other bytes.
 */
export function decodeUtf8(field: string, bytes: Uint8Array): string {
  try {
    if (isAscii(bytes))
      return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString("latin1");
    return decoder.decode(bytes);
  } catch (cause) {
    throw new TriviumError("invalidInput", `${field} is not JSON: it is not UTF-8`, { cause });
  }
}

/** True when an escaped half of a surrogate pair stands without the other half. */
function hasLoneEscape(text: string): boolean {
  let highEndsAt = -1;
  for (const match of text.includes("\\u") ? text.matchAll(escapes) : []) {
    const half = match[1] === undefined ? 0 : Number.parseInt(match[1], 16);
    const isLow = half >= 0xdc00 && half <= 0xdfff;
    const isPair = isLow && highEndsAt === match.index;
    if (!isPair && (isLow || highEndsAt >= 0)) return true;
    highEndsAt = half >= 0xd800 && half <= 0xdbff ? match.index + match[0].length : -1;
  }
  return highEndsAt >= 0;
}

/** Levels of a text that is known to be valid JSON. */
function levelsOf(text: string): number {
  let level = 0;
  let deepest = 0;
  structure.lastIndex = 0;
  for (let match = structure.exec(text); match !== null; match = structure.exec(text)) {
    const [character] = match;
    if (character === '"') structure.lastIndex = endOfString(text, match.index);
    else if (character === "[" || character === "{") deepest = Math.max(deepest, ++level);
    else level--;
  }
  return deepest;
}

/** The index after the string that begins at `start`, in a text that is known to be valid JSON. */
export function endOfString(text: string, start: number): number {
  for (let at = text.indexOf('"', start + 1); at >= 0; at = text.indexOf('"', at + 1)) {
    let backslashes = 0;
    while (text[at - 1 - backslashes] === "\\") backslashes++;
    if (backslashes % 2 === 0) return at + 1;
  }
  return text.length;
}
