import { decodeUtf8, endOfString } from "../json-text.ts";
import type { IntegerRange } from "./integer-ranges.ts";
import { ProtocolError } from "./protocol-error.ts";

const QUOTE = 0x22;
const COMMA = 0x2c;
const COLON = 0x3a;
const OPEN_BRACKET = 0x5b;
const CLOSE_BRACKET = 0x5d;
const OPEN_BRACE = 0x7b;
const CLOSE_BRACE = 0x7d;
const SPACE = 0x20;

/** Integers are written with digits only: no fraction, no exponent. */
const integerForm = /^(?:0|-?[1-9]\d*)$/;

/**
 * One value within a JSON text, read on demand.
 *
 * It keeps what `JSON.parse` loses: repeated keys, how a number is written, the text of a value. Every reading throws
 * {@link ProtocolError} when the value is another one than asked for; `path` says which.
 */
export class JsonNode {
  readonly path: string;
  readonly #text: string;
  readonly #start: number;
  readonly #end: number;

  private constructor(source: { text: string; start: number; end: number }, path: string) {
    this.#text = source.text;
    this.#start = source.start;
    this.#end = source.end;
    this.path = path;
  }

  /** The one value of a message. */
  static parse(bytes: Uint8Array): JsonNode {
    let text: string;
    try {
      text = decodeUtf8("the message", bytes);
      // The whole text is checked here, so that everything below may take it for valid.
      JSON.parse(text);
    } catch (cause) {
      throw new ProtocolError("the message is not one JSON value in UTF-8", { cause });
    }
    const start = skipSpace(text, 0);
    return new JsonNode({ text, start, end: endOfValue(text, start) }, "message");
  }

  /** The value as it is written. */
  get json(): string {
    return this.#text.slice(this.#start, this.#end);
  }

  get isNull(): boolean {
    return this.#text[this.#start] === "n";
  }

  /** @throws {@link ProtocolError} for other values and for a text with lone surrogates. */
  string(): string {
    if (this.#first !== QUOTE) throw this.#isNot("a text");
    const value = String(JSON.parse(this.json));
    if (!value.isWellFormed()) throw this.#isNot("a text without lone surrogates");
    return value;
  }

  integer({ min, max }: IntegerRange): bigint {
    const token = this.#end - this.#start > 20 ? "" : this.json;
    if (!integerForm.test(token)) throw this.#isNot("an integer");
    const value = BigInt(token);
    if (value < min || value > max) throw this.#isNot(`between ${min} and ${max}`);
    return value;
  }

  /** The members in the order in which they are written. */
  array(): JsonNode[] {
    if (this.#first !== OPEN_BRACKET) throw this.#isNot("an array");
    const items: JsonNode[] = [];
    let at = skipSpace(this.#text, this.#start + 1);
    while (this.#text.charCodeAt(at) !== CLOSE_BRACKET) {
      const item = this.#child(at, `[${items.length}]`);
      items.push(item);
      at = this.#next(item.#end);
    }
    return items;
  }

  /** The fields by name; a repeated name is refused. */
  fields(): Map<string, JsonNode> {
    if (this.#first !== OPEN_BRACE) throw this.#isNot("an object");
    const fields = new Map<string, JsonNode>();
    let at = skipSpace(this.#text, this.#start + 1);
    while (this.#text.charCodeAt(at) !== CLOSE_BRACE) {
      const keyEnd = endOfString(this.#text, at);
      const key = String(JSON.parse(this.#text.slice(at, keyEnd)));
      if (fields.has(key)) throw new ProtocolError(`${this.path} has the key ${key} twice`);
      const value = this.#child(skipSpace(this.#text, skipSpace(this.#text, keyEnd) + 1), `.${key}`);
      fields.set(key, value);
      at = this.#next(value.#end);
    }
    return fields;
  }

  get #first(): number {
    return this.#text.charCodeAt(this.#start);
  }

  #child(start: number, name: string): JsonNode {
    return new JsonNode({ text: this.#text, start, end: endOfValue(this.#text, start) }, this.path + name);
  }

  /** The start of the next member, or the closing bracket. */
  #next(end: number): number {
    const at = skipSpace(this.#text, end);
    return this.#text.charCodeAt(at) === COMMA ? skipSpace(this.#text, at + 1) : at;
  }

  #isNot(what: string): ProtocolError {
    return new ProtocolError(`${this.path} is not ${what}`);
  }
}

function skipSpace(text: string, from: number): number {
  let at = from;
  while (text.charCodeAt(at) <= SPACE) at++;
  return at;
}

/** The index after the value that begins at `start`. */
function endOfValue(text: string, start: number): number {
  const first = text.charCodeAt(start);
  if (first === QUOTE) return endOfString(text, start);
  if (first !== OPEN_BRACE && first !== OPEN_BRACKET) return endOfWord(text, start);
  let at = start;
  let level = 0;
  do {
    const code = text.charCodeAt(at);
    if (code === QUOTE) {
      at = endOfString(text, at);
      continue;
    }
    if (code === OPEN_BRACE || code === OPEN_BRACKET) level++;
    else if (code === CLOSE_BRACE || code === CLOSE_BRACKET) level--;
    at++;
  } while (level > 0);
  return at;
}

/** Numbers and names end at whatever separates values. */
function endOfWord(text: string, start: number): number {
  let at = start;
  for (; at < text.length; at++) {
    const code = text.charCodeAt(at);
    const isSeparator = code === COMMA || code === COLON || code === CLOSE_BRACKET || code === CLOSE_BRACE;
    if (isSeparator || code <= SPACE) break;
  }
  return at;
}
