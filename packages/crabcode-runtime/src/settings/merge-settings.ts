type Layer = Readonly<Record<string, unknown>>;

/** Keys that an untrusted checkout must not set. `*` is any one key. */
const UNTRUSTED_KEYS: readonly (readonly string[])[] = [
  ["env"],
  ["hooks"],
  ["mcp_servers"],
  ["permissions", "allow"],
  ["permissions", "default_mode"],
  ["permissions", "run_everything"],
  ["permissions", "additional_directories"],
  ["modes", "auto_apply"],
  ["api", "base_url"],
  ["models", "*", "base_url"],
  ["api", "script_path"],
  ["models", "*", "script_path"],
  ["extra_tools"],
];

/** Lays one settings object over another: objects merge, arrays join without duplicates, scalars replace. */
export function mergeSettings(below: Layer, above: Layer): Layer {
  const merged: Record<string, unknown> = { ...below };
  for (const [key, value] of Object.entries(above)) {
    // A name such as __proto__ would become the object's prototype.
    if (key === "__proto__") continue;
    merged[key] = mergeValue(Object.hasOwn(below, key) ? below[key] : undefined, value);
  }
  return merged;
}

function mergeValue(below: unknown, above: unknown): unknown {
  if (isLayer(below) && isLayer(above)) return mergeSettings(below, above);
  if (Array.isArray(below) && Array.isArray(above)) {
    const known = new Set(below.map((item) => JSON.stringify(item)));
    return [...below, ...above.filter((item) => !known.has(JSON.stringify(item)))];
  }
  return above;
}

/** Takes away what only trusted files may set. `ignored` gets the dotted names of what was there. */
export function withoutUntrustedKeys(layer: Layer, ignored: string[]): Layer {
  return UNTRUSTED_KEYS.reduce((rest, path) => withoutKey(rest, path, { prefix: "", ignored }), layer);
}

function withoutKey(
  layer: Layer,
  [first, ...rest]: readonly string[],
  found: { readonly prefix: string; readonly ignored: string[] },
): Layer {
  if (first === undefined) return layer;
  const names = first === "*" ? Object.keys(layer) : Object.hasOwn(layer, first) ? [first] : [];
  let result = layer;
  for (const name of names) {
    const value = layer[name];
    if (rest.length === 0) {
      found.ignored.push(found.prefix + name);
      result = Object.fromEntries(Object.entries(result).filter(([key]) => key !== name));
    } else if (isLayer(value)) {
      const inner = { prefix: `${found.prefix}${name}.`, ignored: found.ignored };
      result = { ...result, [name]: withoutKey(value, rest, inner) };
    }
  }
  return result;
}

/** True for a JSON object. */
export function isLayer(value: unknown): value is Layer {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
