import { matchesSegments } from "../files/ignore/ignore-pattern.ts";

/** A glob, ready to match. */
export interface Glob {
  /** One for each choice of its braces; segments of the path, `**` for any number of them. */
  readonly alternatives: readonly (readonly string[])[];
}

/** More choices than anybody means. */
const MAX_ALTERNATIVES = 1000;

/** Parses `*`, `?`, `[…]`, `**` and `{a,b}`. A glob that stands for too many patterns keeps the first ones. */
export function parseGlob(glob: string): Glob {
  const alternatives = expandBraces(glob).map((pattern) => pattern.replace(/^\.?\//, "").split("/"));
  return { alternatives };
}

/** Whether a relative path matches. Time is bounded by the product of the lengths. */
export function matchesGlob({ alternatives }: Glob, path: string): boolean {
  const segments = path.split("/");
  return alternatives.some((pattern) => matchesSegments(pattern, segments));
}

function expandBraces(glob: string): string[] {
  const results: string[] = [];
  const queue = [glob];
  for (let pattern = queue.shift(); pattern !== undefined; pattern = queue.shift()) {
    const group = firstBraceGroup(pattern);
    if (group === undefined) results.push(pattern);
    else queue.push(...group.choices.map((choice) => group.before + choice + group.after));
    if (results.length + queue.length > MAX_ALTERNATIVES)
      return [...results, ...queue].slice(0, MAX_ALTERNATIVES);
  }
  return results;
}

interface BraceGroup {
  readonly before: string;
  readonly choices: readonly string[];
  readonly after: string;
}

/** The first complete `{…}` with a comma; nested ones stay in its choices. */
function firstBraceGroup(pattern: string): BraceGroup | undefined {
  for (let start = nextBrace(pattern, 0); start !== -1; start = nextBrace(pattern, start + 1)) {
    const choices: string[] = [];
    let depth = 0;
    let from = start + 1;
    for (let at = start; at < pattern.length; at += 1) {
      const character = pattern[at];
      if (character === "\\") at += 1;
      else if (character === "{") depth += 1;
      else if (character === "," && depth === 1) {
        choices.push(pattern.slice(from, at));
        from = at + 1;
      } else if (character === "}") {
        depth -= 1;
        if (depth > 0) continue;
        choices.push(pattern.slice(from, at));
        if (choices.length > 1)
          return { before: pattern.slice(0, start), choices, after: pattern.slice(at + 1) };
        break;
      }
    }
  }
  return undefined;
}

/** Position of the next `{` that no backslash stands before; -1 when there is none. */
function nextBrace(pattern: string, from: number): number {
  for (let at = from; at < pattern.length; at += 1) {
    if (pattern[at] === "\\") at += 1;
    else if (pattern[at] === "{") return at;
  }
  return -1;
}
