import { type Context, createContext, Script } from "node:vm";
import type { LinesEvent } from "./ripgrep-events.ts";
import type { SearchQuery } from "./search-query.ts";

/** One file may keep the matcher busy for so long; only patterns that backtrack without end do. */
const MAX_MATCH_MS = 200;

/**
 * Numbers of the matching lines, from 0, ascending. Runs in a context of its own, where V8 can end it: a regular
 * expression cannot be interrupted otherwise.
 */
const script = new Script(`(() => {
  const lines = [];
  if (!multiline) {
    text.split("\\n").forEach((line, index) => {
      expression.lastIndex = 0;
      if (expression.test(line.endsWith("\\r") ? line.slice(0, -1) : line)) lines.push(index);
    });
    return lines.join(",");
  }
  let line = 0;
  let at = 0;
  expression.lastIndex = 0;
  for (let match = expression.exec(text); match !== null; match = expression.exec(text)) {
    for (; at < match.index; at += 1) if (text[at] === "\\n") line += 1;
    const last = line + match[0].replace(/\\n$/, "").split("\\n").length - 1;
    for (let number = line; number <= last; number += 1) if (lines.at(-1) !== number) lines.push(number);
    if (match[0] === "") expression.lastIndex += 1;
  }
  return lines.join(",");
})()`);

/** Finds matching lines with JavaScript's regular expressions. */
export class LineMatcher {
  readonly #context: Context;
  readonly #before: number;
  readonly #after: number;
  readonly #maxMatches: number;

  private constructor(context: Context, query: SearchQuery) {
    this.#context = context;
    this.#before = query.linesBefore ?? 0;
    this.#after = query.linesAfter ?? 0;
    this.#maxMatches = query.maxMatchesPerFile ?? Infinity;
  }

  /** A matcher, or what is wrong with the pattern. */
  static compile(query: SearchQuery): LineMatcher | string {
    const multiline = query.multiline === true;
    const flags = `g${query.ignoreCase === true ? "i" : ""}${multiline ? "ms" : ""}`;
    const context = createContext({
      multiline,
      pattern: query.pattern,
      flags,
      text: "",
      expression: undefined,
    });
    try {
      // Unicode classes need the flag u, which refuses some escapes that are harmless without it.
      new Script(
        "try { expression = new RegExp(pattern, flags + 'u'); } catch { expression = new RegExp(pattern, flags); }",
      ).runInContext(context, { timeout: MAX_MATCH_MS });
    } catch (thrown) {
      return `regex parse error: ${thrown instanceof Error ? thrown.message : String(thrown)}`;
    }
    return new LineMatcher(context, query);
  }

  /** Matching lines of a text with the lines around them; undefined when that takes too long. */
  match(text: string): LinesEvent[] | undefined {
    const numbers = this.#run(text);
    if (numbers === undefined) return undefined;
    const lines = text.split("\n");
    // The empty text behind the last line feed is no line.
    const count = lines.at(-1) === "" ? lines.length - 1 : lines.length;
    const matching = numbers.filter((number) => number < count).slice(0, this.#maxMatches);
    const kinds = new Map<number, "match" | "context">();
    for (const number of matching) {
      const last = Math.min(count - 1, number + this.#after);
      for (let near = Math.max(0, number - this.#before); near <= last; near += 1) {
        if (!kinds.has(near)) kinds.set(near, "context");
      }
    }
    for (const number of matching) kinds.set(number, "match");
    const offsets = offsetsOf(lines, kinds.size === 0 ? 0 : count);
    return [...kinds]
      .sort(([one], [other]) => one - other)
      .map(([number, kind]) => ({
        kind,
        lineNumber: number + 1,
        byteOffset: offsets[number] ?? 0,
        text: lines[number] ?? "",
      }));
  }

  #run(text: string): number[] | undefined {
    this.#context["text"] = text;
    try {
      const found: unknown = script.runInContext(this.#context, { timeout: MAX_MATCH_MS });
      return typeof found === "string" && found !== "" ? found.split(",").map(Number) : [];
    } catch {
      // Only the time limit ends the script early.
      return undefined;
    } finally {
      this.#context["text"] = "";
    }
  }
}

function offsetsOf(lines: readonly string[], count: number): number[] {
  const offsets: number[] = [];
  let offset = 0;
  for (const line of lines.slice(0, count)) {
    offsets.push(offset);
    offset += Buffer.byteLength(line) + 1;
  }
  return offsets;
}
