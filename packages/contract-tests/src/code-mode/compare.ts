import type { Vector } from "./vector.ts";

/** One place where a replay differs from the recording. */
export interface Difference {
  readonly path: string;
  readonly expected: unknown;
  readonly seen: unknown;
}

/** Where a replay differs from its vector; empty when it matches. */
export function compare(vector: Vector, seen: unknown): Difference[] {
  const comparison = new Comparison(vector);
  comparison.value(vector.expect, seen, "");
  return comparison.differences;
}

class Comparison {
  readonly differences: Difference[] = [];
  readonly #unordered: readonly string[];
  readonly #comparesFirstLine: boolean;

  constructor(vector: Vector) {
    this.#unordered = vector.unordered ?? [];
    this.#comparesFirstLine =
      vector.engine_text === true || vector.json_parser_text === true || vector.grpc_stack_text === true;
  }

  value(expected: unknown, seen: unknown, path: string): void {
    if (isObject(expected) && expected["$any"] === true) return;
    if (isObject(expected) && typeof expected["$re"] === "string") {
      const matches = typeof seen === "string" && new RegExp(expected["$re"], "s").test(seen);
      if (!matches) this.#differs(path, expected, seen);
    } else if (Array.isArray(expected)) this.#list(expected, seen, path);
    else if (isObject(expected)) this.#object(expected, seen, path);
    else if (expected !== seen && !this.#isSameFirstLine(expected, seen)) this.#differs(path, expected, seen);
  }

  #list(expected: readonly unknown[], seen: unknown, path: string): void {
    if (!Array.isArray(seen) || seen.length !== expected.length) {
      this.#differs(path, expected, seen);
      return;
    }
    if (this.#unordered.some((free) => path === free || path.startsWith(`${free}.`))) {
      if (sorted(expected) !== sorted(seen)) this.#differs(path, expected, seen);
      return;
    }
    for (const [index, one] of expected.entries()) this.value(one, seen[index], join(path, index));
  }

  #object(expected: Record<string, unknown>, seen: unknown, path: string): void {
    const fields = isObject(seen) ? seen : {};
    for (const key of new Set([...Object.keys(expected), ...Object.keys(fields)])) {
      this.value(expected[key], fields[key], join(path, key));
    }
  }

  #isSameFirstLine(expected: unknown, seen: unknown): boolean {
    if (!this.#comparesFirstLine || typeof expected !== "string" || typeof seen !== "string") return false;
    return expected.split("\n")[0] === seen.split("\n")[0];
  }

  #differs(path: string, expected: unknown, seen: unknown): void {
    this.differences.push({ path, expected, seen });
  }
}

/** Lists of calls in any order: the numbers that follow the order are left out. */
function sorted(list: readonly unknown[]): string {
  const texts = list.map((one) =>
    JSON.stringify(one, (key, value: unknown) =>
      key === "sequence" || key === "runtime_tool_call_id" ? undefined : value,
    ),
  );
  return JSON.stringify(texts.sort());
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function join(path: string, key: string | number): string {
  return path === "" ? String(key) : `${path}.${key}`;
}
