/** Values that steps and expectations store by name, for later ones. */
export type Captures = Map<string, unknown>;

/** One place where a value is not what it must be. */
export interface Mismatch {
  readonly path: string;
  readonly expected: unknown;
  readonly seen: unknown;
}

type Fields = Readonly<Record<string, unknown>>;

/** What follows the path of a value that is not there at all, other than null. */
const ABSENT: unique symbol = Symbol("absent");

/**
 * How a value differs from a matcher; undefined when it fits. An object fits one that has at least its keys, an array
 * one of the same length, `{"$…": …}` by what it says. Captures are stored when everything fits, else none is.
 */
export function mismatchOf(matcher: unknown, seen: unknown, captures: Captures): Mismatch | undefined {
  const matching = new Matching(captures);
  const mismatch = matching.compare(matcher, seen, "");
  if (mismatch === undefined) for (const [name, value] of matching.captured) captures.set(name, value);
  return mismatch;
}

class Matching {
  readonly captured = new Map<string, unknown>();
  readonly #captures: Captures;

  constructor(captures: Captures) {
    this.#captures = captures;
  }

  compare(expected: unknown, seen: unknown, path: string): Mismatch | undefined {
    const mismatch = { path, expected, seen: seen === ABSENT ? "(absent)" : seen };
    if (Array.isArray(expected)) return Array.isArray(seen) ? this.#array(expected, seen, path) : mismatch;
    if (!isObject(expected)) return Object.is(expected, seen) ? undefined : mismatch;
    if (Object.keys(expected).some((key) => key.startsWith("$"))) {
      return this.#conditions(expected, seen) ? undefined : mismatch;
    }
    if (!isObject(seen)) return mismatch;
    for (const [key, one] of Object.entries(expected)) {
      const value = Object.hasOwn(seen, key) ? seen[key] : ABSENT;
      const inner = this.compare(one, value, path === "" ? key : `${path}.${key}`);
      if (inner !== undefined) return inner;
    }
    return undefined;
  }

  #array(expected: readonly unknown[], seen: readonly unknown[], path: string): Mismatch | undefined {
    if (expected[0] === "$subset") return this.#subset(expected.slice(1), seen, path);
    if (expected.length !== seen.length) return { path, expected, seen };
    for (const [index, one] of expected.entries()) {
      const inner = this.compare(one, seen[index], `${path}[${index}]`);
      if (inner !== undefined) return inner;
    }
    return undefined;
  }

  #subset(expected: readonly unknown[], seen: readonly unknown[], path: string): Mismatch | undefined {
    let at = 0;
    for (const one of expected) {
      while (at < seen.length && this.compare(one, seen[at], path) !== undefined) at += 1;
      if (at === seen.length) return { path, expected: one, seen };
      at += 1;
    }
    return undefined;
  }

  #conditions(conditions: Fields, seen: unknown): boolean {
    const { $capture, ...others } = conditions;
    const fits = Object.entries(others).every(([name, argument]) => this.#holds(name, argument, seen));
    if (!fits || ($capture !== undefined && seen === ABSENT)) return false;
    if (typeof $capture === "string") this.captured.set($capture, seen);
    return true;
  }

  #holds(condition: string, argument: unknown, seen: unknown): boolean {
    switch (condition) {
      case "$contains":
        return typeof seen === "string" && seen.includes(String(argument));
      case "$regex":
        return typeof seen === "string" && new RegExp(String(argument), "u").test(seen);
      case "$any":
        return seen !== ABSENT && seen !== null;
      case "$absent":
        return seen === ABSENT;
      case "$gte":
        return typeof seen === "number" && seen >= Number(argument);
      case "$ref":
        return Object.is(this.#valueOf(String(argument)), seen);
      default:
        throw new Error(`there is no matcher ${condition}`);
    }
  }

  #valueOf(name: string): unknown {
    if (this.captured.has(name)) return this.captured.get(name);
    if (this.#captures.has(name)) return this.#captures.get(name);
    // Nothing equals what nobody has stored.
    return undefined;
  }
}

function isObject(value: unknown): value is Fields {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
