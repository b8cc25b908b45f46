import { isJsonObject, type JsonValue } from "../json.ts";

/** UTF-16 units of a piece: what is made at once of a text that can be long. */
const PIECE_UNITS = 64 * 1024;
/** Items of a list of numbers that are written at once. */
const PIECE_ITEMS = 8 * 1024;

/** A text in pieces of bounded length, cut between characters. */
export function* textPieces(text: string): Generator<string> {
  for (let start = 0; start < text.length; ) {
    const limit = start + PIECE_UNITS;
    const end = isHighSurrogate(text.charCodeAt(limit - 1)) ? limit + 1 : limit;
    yield text.slice(start, end);
    start = end;
  }
}

/** What `JSON.stringify` gives, in pieces of bounded length. */
export function* jsonPieces(value: JsonValue): Generator<string> {
  if (typeof value === "string" && value.length > PIECE_UNITS) {
    yield '"';
    // A pair of surrogates is never cut, so each piece is written as it would be within the whole.
    for (const piece of textPieces(value)) yield JSON.stringify(piece).slice(1, -1);
    yield '"';
  } else if (Array.isArray(value)) {
    yield* listPieces(value);
  } else if (isJsonObject(value)) {
    let separator = "{";
    for (const [key, item] of Object.entries(value)) {
      yield `${separator}${JSON.stringify(key)}:`;
      yield* jsonPieces(item);
      separator = ",";
    }
    yield separator === "{" ? "{}" : "}";
  } else {
    yield JSON.stringify(value);
  }
}

function* listPieces(list: readonly JsonValue[]): Generator<string> {
  let separator = "[";
  for (let start = 0; start < list.length; start += PIECE_ITEMS) {
    const items = list.slice(start, start + PIECE_ITEMS);
    if (items.every((item) => typeof item === "number")) {
      yield separator + JSON.stringify(items).slice(1, -1);
      separator = ",";
      continue;
    }
    for (const item of items) {
      yield separator;
      yield* jsonPieces(item);
      separator = ",";
    }
  }
  yield separator === "[" ? "[]" : "]";
}

function isHighSurrogate(unit: number): boolean {
  return unit >= 0xd800 && unit < 0xdc00;
}
