/** Values of a case that are known only while it runs: its directory, and what steps captured. */
export class Placeholders {
  readonly #values: Map<string, string>;

  constructor(cwd: string) {
    this.#values = new Map([
      ["CWD", cwd],
      ["CWD_NO_LEADING_SLASH", cwd.slice(1)],
    ]);
  }

  set(name: string, value: string): void {
    this.#values.set(name, value);
  }

  /** The value with every known `${name}` replaced, in keys of objects too. Unknown ones stay as they are. */
  fill<Value>(value: Value): Value {
    return this.#fill(value) as Value;
  }

  #fill(value: unknown): unknown {
    if (typeof value === "string") {
      return value.replaceAll(/\$\{([^}]*)\}/g, (whole, name: string) => this.#values.get(name) ?? whole);
    }
    if (Array.isArray(value)) return value.map((one) => this.#fill(one));
    if (typeof value !== "object" || value === null) return value;
    return Object.fromEntries(Object.entries(value).map(([key, one]) => [this.#fill(key), this.#fill(one)]));
  }
}
