type Layer = Readonly<Record<string, unknown>>;

/** Keys that an untrusted checkout must not set, beside those of its model profiles. */
const UNTRUSTED_KEYS: readonly (readonly string[])[] = [
  ["env"],
  ["hooks"],
  ["mcp_servers"],
  ["permissions", "allow"],
  ["permissions", "default_mode"],
  ["permissions", "run_everything"],
  ["permissions", "additional_directories"],
  ["modes", "auto_apply"],
  ["extra_tools"],
];

/** Keys of a profile that say what is sent where: which variable of the server, in which headers, to which address. */
const UNTRUSTED_PROFILE_KEYS = [
  "base_url",
  "script_path",
  "api_key_env",
  "http_headers",
  "azure_endpoint",
  "codex_auth_path",
];
/** Keys that would take a profile, with its credentials, to another place. */
const REDIRECTING_KEYS = ["provider", "format"];

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

/**
 * Takes away what only trusted files may set. `ignored` gets the dotted names of what was there.
 *
 * @param trusted what the trusted files say together: a profile of theirs keeps its provider
 */
export function withoutUntrustedKeys(layer: Layer, trusted: Layer, ignored: string[]): Layer {
  const models = isLayer(trusted["models"]) ? trusted["models"] : {};
  const profiles = [
    ["api"],
    ...Object.keys(isLayer(layer["models"]) ? layer["models"] : {}).map((name) => ["models", name]),
  ];
  const paths = profiles.flatMap((profile) => {
    const [first = "", name] = profile;
    const isTheirs = name === undefined ? Object.hasOwn(trusted, first) : Object.hasOwn(models, name);
    const keys = isTheirs ? [...UNTRUSTED_PROFILE_KEYS, ...REDIRECTING_KEYS] : UNTRUSTED_PROFILE_KEYS;
    return keys.map((key) => [...profile, key]);
  });
  return [...UNTRUSTED_KEYS, ...paths].reduce<Layer>(
    (rest, path) => withoutKey(rest, path, { prefix: "", ignored }),
    layer,
  );
}

function withoutKey(
  layer: Layer,
  [first, ...rest]: readonly string[],
  found: { readonly prefix: string; readonly ignored: string[] },
): Layer {
  if (first === undefined || !Object.hasOwn(layer, first)) return layer;
  if (rest.length === 0) {
    found.ignored.push(found.prefix + first);
    return Object.fromEntries(Object.entries(layer).filter(([key]) => key !== first));
  }
  const value = layer[first];
  if (!isLayer(value)) return layer;
  const inner = { prefix: `${found.prefix}${first}.`, ignored: found.ignored };
  // A computed __proto__ is a key like any other here.
  return { ...layer, [first]: withoutKey(value, rest, inner) };
}

/** True for a JSON object. */
export function isLayer(value: unknown): value is Layer {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
