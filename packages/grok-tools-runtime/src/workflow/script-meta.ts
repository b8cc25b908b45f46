/** What a script says about itself. */
export interface ScriptMeta {
  readonly name: string | undefined;
  readonly description: string | undefined;
}

/** A `meta` that cannot be read. */
export interface MetaFault {
  readonly fault: string;
}

/**
 * Reads `const meta = { name: "…", description: "…" };` at the beginning of a script, after comments. It is read
 * without running anything, so its values are plain texts in quotes. A script without one has no name of its own.
 */
export function readScriptMeta(source: string): ScriptMeta | MetaFault {
  const start = /^(?:\s+|\/\/[^\n]*|\/\*[^]*?\*\/)*const\s+meta\s*=\s*/.exec(source);
  if (start === null) return { name: undefined, description: undefined };
  const body = /^\{([^{}]*)\}/.exec(source.slice(start[0].length))?.[1];
  if (body === undefined) return { fault: "meta is no literal object without nested ones" };
  const values = new Map<string, string>();
  const pair =
    /\s*(?:([A-Za-z_$][\w$]*)|"([\w$]+)"|'([\w$]+)')\s*:\s*("(?:[^"\\\n]|\\.)*"|'(?:[^'\\\n]|\\.)*')\s*(?:,|$)/y;
  while (pair.lastIndex < body.trimEnd().length) {
    const match = pair.exec(body);
    if (match === null) return { fault: "meta has something else than texts in quotes" };
    const [, bare, double, single, literal = ""] = match;
    values.set(bare ?? double ?? single ?? "", unquote(literal));
  }
  const name = values.get("name")?.trim();
  if (name === undefined || name === "") return { fault: "meta has no name" };
  return { name, description: values.get("description") };
}

function unquote(literal: string): string {
  return literal
    .slice(1, -1)
    .replaceAll(/\\(.)/g, (_, character: string) => (character === "n" ? "\n" : character));
}
