import { relative, sep } from "node:path";
import { type IgnorePattern, matchesPattern, parseIgnorePattern } from "../files/ignore/ignore-pattern.ts";

/** Which files make a skill available. */
export class PathCondition {
  readonly #base: string;
  readonly #patterns: readonly IgnorePattern[];

  private constructor(base: string, patterns: readonly IgnorePattern[]) {
    this.#base = base;
    this.#patterns = patterns;
  }

  /**
   * The condition of patterns in the manner of ignore files, relative to a folder. Undefined when they exclude nothing:
   * there are none, or all are `**`.
   */
  static of(patterns: readonly string[], base: string): PathCondition | undefined {
    const trimmed = patterns.map((pattern) => pattern.trim().replace(/\/\*\*$/, ""));
    if (trimmed.every((pattern) => pattern === "" || pattern === "**")) return undefined;
    const parsed = trimmed.map(parseIgnorePattern).filter((pattern) => pattern !== undefined);
    return parsed.length === 0 ? undefined : new PathCondition(base, parsed);
  }

  /** Whether an absolute path, or a folder above it, is meant. Nothing outside the base is. */
  matches(path: string, isFolder: boolean): boolean {
    const segments = relative(this.#base, path).split(sep);
    if (segments[0] === ".." || segments[0] === "") return false;
    return segments.some((_, index) => {
      const isAbove = index < segments.length - 1;
      return this.#isMeant(segments.slice(0, index + 1), isAbove || isFolder);
    });
  }

  /** The last pattern that matches decides. */
  #isMeant(segments: readonly string[], isFolder: boolean): boolean {
    const deciding = this.#patterns.findLast((pattern) => matchesPattern(pattern, segments, isFolder));
    return deciding !== undefined && !deciding.isNegated;
  }
}
