import { trim, trimEnd } from "../../../files/white-space.ts";
import type { FileLines } from "./file-lines.ts";

/**
 * How strictly lines were compared: 1 exactly, 2 without white space at the end, 3 without white space at both ends,
 * 4 also with typographic characters taken as plain ones.
 */
export type Fuzz = 1 | 2 | 3 | 4;

/** Where lines were found. */
export interface FoundLines {
  /** First line, from 0. */
  readonly line: number;
  readonly fuzz: Fuzz;
  /** They are in the searched part several times, exactly. Always false for what was not found exactly. */
  readonly isAmbiguous: boolean;
}

/** What to look for. */
export interface LineSearch {
  readonly pattern: readonly string[];
  /** First line that counts, from 0. */
  readonly from: number;
  /** Only the last lines of the file count. */
  readonly isEndOfFile: boolean;
}

const levels: readonly { readonly fuzz: Fuzz; readonly normalise: (text: string) => string }[] = [
  { fuzz: 1, normalise: (text) => text },
  { fuzz: 2, normalise: trimEnd },
  { fuzz: 3, normalise: trim },
  { fuzz: 4, normalise: (text) => toPlainCharacters(trim(text)) },
];

/** Finds runs of lines in a file: the first place at the strictest level that has one. */
export class LineSeeker {
  readonly #lines: FileLines;
  readonly #numbered = new Map<Fuzz, NumberedLines>();
  /** Grows with the work done, in lines. */
  comparedLines = 0;

  constructor(lines: FileLines) {
    this.#lines = lines;
  }

  /** Undefined: the lines are not there. No lines are found where the search begins. */
  find({ pattern, from, isEndOfFile }: LineSearch): FoundLines | undefined {
    if (pattern.length === 0) return { line: from, fuzz: 1, isAmbiguous: false };
    const last = this.#lines.count - pattern.length;
    const first = isEndOfFile ? last : from;
    if (last < 0 || first > last) return undefined;
    for (const { fuzz, normalise } of levels) {
      const numbered = this.#numberedLines(fuzz, normalise);
      const wanted = numbered.numbersOf(pattern.map(normalise));
      const line = wanted === undefined ? -1 : this.#indexOf(numbered.numbers, wanted, first);
      if (wanted === undefined || line === -1) continue;
      const isAmbiguous = fuzz === 1 && this.#indexOf(numbered.numbers, wanted, line + 1) !== -1;
      return { line, fuzz, isAmbiguous };
    }
    return undefined;
  }

  #numberedLines(fuzz: Fuzz, normalise: (text: string) => string): NumberedLines {
    const known = this.#numbered.get(fuzz);
    if (known !== undefined) return known;
    this.comparedLines += this.#lines.count;
    const numbered = new NumberedLines(this.#lines, normalise);
    this.#numbered.set(fuzz, numbered);
    return numbered;
  }

  /** Knuth, Morris and Pratt: a file of a million equal lines must not take the product of both lengths. */
  #indexOf(numbers: Int32Array, wanted: Int32Array, from: number): number {
    const borders = bordersOf(wanted);
    let matched = 0;
    let at = from;
    for (; at < numbers.length && matched < wanted.length; at += 1) {
      while (matched > 0 && numbers[at] !== wanted[matched]) matched = borders[matched - 1] ?? 0;
      if (numbers[at] === wanted[matched]) matched += 1;
    }
    this.comparedLines += at - from + wanted.length;
    return matched === wanted.length ? at - matched : -1;
  }
}

/** Lines as numbers that are equal where the normalised lines are. */
class NumberedLines {
  readonly numbers: Int32Array;
  readonly #numberOf = new Map<string, number>();

  constructor(lines: FileLines, normalise: (text: string) => string) {
    this.numbers = new Int32Array(lines.count);
    for (let line = 0; line < lines.count; line += 1) {
      const text = lines.textOf(line);
      // No pattern has this number: bytes that are no text match nothing.
      this.numbers[line] = text === undefined ? -1 : this.#add(normalise(text));
    }
  }

  /** Undefined when one of the lines is nowhere in the file. */
  numbersOf(pattern: readonly string[]): Int32Array | undefined {
    const wanted = new Int32Array(pattern.length);
    for (const [index, text] of pattern.entries()) {
      const number = this.#numberOf.get(text);
      if (number === undefined) return undefined;
      wanted[index] = number;
    }
    return wanted;
  }

  #add(text: string): number {
    const number = this.#numberOf.get(text) ?? this.#numberOf.size;
    this.#numberOf.set(text, number);
    return number;
  }
}

/** For each beginning of the pattern: length of the longest shorter beginning that it ends with. */
function bordersOf(pattern: Int32Array): Int32Array {
  const borders = new Int32Array(pattern.length);
  for (let at = 1, matched = 0; at < pattern.length; at += 1) {
    while (matched > 0 && pattern[at] !== pattern[matched]) matched = borders[matched - 1] ?? 0;
    if (pattern[at] === pattern[matched]) matched += 1;
    borders[at] = matched;
  }
  return borders;
}

function toPlainCharacters(text: string): string {
  return text
    .replace(/[\u2010-\u2015\u2212]/g, "-")
    .replace(/[\u2018-\u201b]/g, "'")
    .replace(/[\u201c-\u201f]/g, '"')
    .replace(/[\u00a0\u2002-\u200a\u202f\u205f\u3000]/g, " ");
}
