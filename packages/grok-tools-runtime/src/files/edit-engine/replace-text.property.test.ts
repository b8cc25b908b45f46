import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { replaceText } from "./replace-text.ts";

/**
 * The rules once more, in the plainest way: a file is a list of byte values in which `\r\n` is one token (CRLF).
 * Slow, short, and shares nothing with the engine.
 */
const CRLF = 256;
const LF = 10;

/** Edits that are tried; `pnpm test:nightly` tries more. */
const RUNS = Number(process.env["TRIVIUM_PROPERTY_RUNS"] ?? 24_000);
/** Generous: some hundred microseconds each on an ordinary machine. */
const TIMEOUT_MS = 20_000 + RUNS;

describe("replaceText against a byte oracle", { timeout: TIMEOUT_MS }, () => {
  it("changes exactly the bytes that the rules name", () => {
    let replacedCount = 0;
    fc.assert(
      fc.property(fileAndNeedle, text, fc.boolean(), ({ file, oldString }, newString, replaceAll) => {
        const expected = oracle(file, { oldString, newString, replaceAll });
        const outcome = replaceText(file, { oldString, newString, replaceAll });
        if (outcome.kind !== expected.kind) throw new Error(`${outcome.kind} instead of ${expected.kind}`);
        if (outcome.kind !== "replaced" || expected.bytes === undefined) return;
        replacedCount += 1;
        // Comparing first is much quicker than an assertion for each of so many runs.
        const bytes = Buffer.from(expected.bytes);
        if (!outcome.bytes.equals(bytes))
          expect(outcome.bytes.toString("latin1")).toBe(bytes.toString("latin1"));
        if (!spansTellTheDifference(file, outcome)) throw new Error("the spans do not tell what changed");
      }),
      { numRuns: RUNS },
    );
    // The generators must not make the property vacuous.
    expect(replacedCount).toBeGreaterThan(RUNS / 4);
  });

  it.each(["le", "be"] as const)("does the same in UTF-16 %s", (order) => {
    fc.assert(
      fc.property(text, text, text, (file, oldString, newString) => {
        const narrow = replaceText(Buffer.from(file, "utf8"), { oldString, newString, replaceAll: true });
        const wide = replaceText(utf16(file, order), { oldString, newString, replaceAll: true });
        if (wide.kind !== narrow.kind) throw new Error(`${wide.kind} instead of ${narrow.kind}`);
        if (wide.kind !== "replaced" || narrow.kind !== "replaced") return;
        const bytes = utf16(narrow.bytes.toString("utf8"), order);
        if (!wide.bytes.equals(bytes)) expect([...wide.bytes]).toEqual([...bytes]);
      }),
      { numRuns: Math.ceil(RUNS / 12) },
    );
  });
});

const pieces = ["a", "b", "ab", "\n", "\r\n", "\r", "é", "$&", "1→"] as const;
const text = fc
  .array(fc.constantFrom(...pieces), { minLength: 0, maxLength: 7 })
  .map((parts) => parts.join(""));
const filePieces = [...pieces.map((piece) => [...Buffer.from(piece)]), [0xff], [0xe9, 0x80], [0xc3]];
const fileParts = fc.array(fc.constantFrom(...filePieces), { minLength: 0, maxLength: 24 });
/** Half of the needles are cut out of the file, with some line endings exchanged. */
const fileAndNeedle = fc
  .tuple(
    fileParts,
    fc.option(text, { freq: 1 }),
    fc.nat(24),
    fc.integer({ min: 1, max: 6 }),
    fc.infiniteStream(fc.boolean()),
  )
  .map(([parts, random, start, count, flips]) => ({
    file: Buffer.from(parts.flat()),
    oldString: random ?? needleOf(parts.slice(start % (parts.length + 1)).slice(0, count), flips),
  }));

function needleOf(parts: number[][], flips: Iterator<boolean>): string {
  return Buffer.from(parts.flat())
    .toString("utf8")
    .replaceAll("\ufffd", "")
    .replace(/\r?\n/g, (found) => (flips.next().value === true ? "\n" : found));
}

function utf16(value: string, order: "le" | "be"): Buffer {
  const bytes = Buffer.from(`\ufeff${value}`, "utf16le");
  return order === "le" ? bytes : bytes.swap16();
}

interface Request {
  readonly oldString: string;
  readonly newString: string;
  readonly replaceAll: boolean;
}

interface Expected {
  readonly kind: string;
  readonly bytes?: number[];
}

function oracle(file: Buffer, request: Request): Expected {
  const { oldString, newString, replaceAll } = request;
  if (oldString.replaceAll("\r\n", "\n") === newString.replaceAll("\r\n", "\n"))
    return { kind: "only-line-endings" };
  if (oldString === "") return { kind: "no-match" };
  const tokens = toTokens([...file]);
  let places = occurrences(tokens, toTokens([...Buffer.from(oldString)]));
  let replacement = newString;
  if (places.length === 0 && hasAnchors(oldString)) {
    const bare = withoutAnchors(oldString);
    places = bare === "" ? [] : occurrences(tokens, toTokens([...Buffer.from(bare)]));
    if (hasAnchors(newString)) replacement = withoutAnchors(newString);
  }
  if (places.length === 0) return { kind: "no-match" };
  if (places.length > 1 && !replaceAll) return { kind: "multiple-matches" };
  const result: number[] = [];
  let copied = 0;
  for (const [start, end] of places) {
    result.push(
      ...tokens.slice(copied, start),
      ...written(tokens, [start, end], toTokens([...Buffer.from(replacement)])),
    );
    copied = end;
  }
  result.push(...tokens.slice(copied));
  return { kind: "replaced", bytes: toBytes(result) };
}

function toTokens(bytes: number[]): number[] {
  const tokens: number[] = [];
  for (let at = 0; at < bytes.length; at += 1) {
    if (bytes[at] === 13 && bytes[at + 1] === LF) {
      tokens.push(CRLF);
      at += 1;
    } else tokens.push(bytes[at]!);
  }
  return tokens;
}

function toBytes(tokens: number[]): number[] {
  return tokens.flatMap((token) => (token === CRLF ? [13, LF] : [token]));
}

function occurrences(tokens: number[], needle: number[]): [number, number][] {
  const exact = scan(tokens, needle, (one, other) => one === other);
  if (needle.includes(CRLF) && exact.length > 0) return exact;
  return scan(tokens, needle, (one, other) => one === other || (isEnd(one) && isEnd(other)));
}

function scan(
  tokens: number[],
  needle: number[],
  same: (one: number, other: number) => boolean,
): [number, number][] {
  const found: [number, number][] = [];
  for (let at = 0; at + needle.length <= tokens.length; ) {
    const isHere = needle.every((token, index) => same(token, tokens[at + index]!));
    if (isHere) found.push([at, at + needle.length]);
    at += isHere ? needle.length : 1;
  }
  return found;
}

function isEnd(token: number): boolean {
  return token === LF || token === CRLF;
}

/** New tokens of a place: common lines at both ends as they were, other line ends as used at the place. */
function written(tokens: number[], [start, end]: [number, number], replacement: number[]): number[] {
  if (!replacement.some(isEnd)) return replacement;
  const old = toLines(tokens.slice(start, end));
  const lines = toLines(replacement);
  let head = 0;
  while (head < Math.min(old.length, lines.length) && sameLine(old[head]!, lines[head]!)) head += 1;
  let tail = 0;
  while (
    tail < Math.min(old.length, lines.length) - head &&
    sameLine(old.at(-1 - tail)!, lines.at(-1 - tail)!)
  )
    tail += 1;
  const ending = tokens.slice(start).find(isEnd) ?? tokens.slice(0, start).findLast(isEnd);
  const middle = lines
    .slice(head, lines.length - tail)
    .map((line) => line.map((token) => (isEnd(token) ? (ending ?? token) : token)));
  return [...old.slice(0, head), ...middle, ...old.slice(old.length - tail)].flat();
}

function toLines(tokens: number[]): number[][] {
  const lines: number[][] = [[]];
  for (const token of tokens) {
    lines.at(-1)!.push(token);
    if (isEnd(token)) lines.push([]);
  }
  return lines;
}

function sameLine(one: number[], other: number[]): boolean {
  return (
    one.length === other.length &&
    one.every((token, index) => token === other[index] || (isEnd(token) && isEnd(other[index]!)))
  );
}

function hasAnchors(value: string): boolean {
  const filled = value.split(/\r?\n/).filter((line) => line !== "");
  return filled.length > 0 && filled.every((line) => /^\d+→/.test(line));
}

function withoutAnchors(value: string): string {
  return value.replace(/(^|\n)\d+→/g, "$1");
}

function spansTellTheDifference(
  before: Buffer,
  { bytes, spans }: { bytes: Buffer; spans: readonly (readonly [number, number, number])[] },
): boolean {
  let oldAt = 0;
  let newAt = 0;
  for (const [start, end, newEnd] of spans) {
    const kept = before.subarray(oldAt, start);
    if (!bytes.subarray(newAt, newAt + kept.length).equals(kept)) return false;
    oldAt = end;
    newAt = newEnd;
  }
  return bytes.subarray(newAt).equals(before.subarray(oldAt));
}
