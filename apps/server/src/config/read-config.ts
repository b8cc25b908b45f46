import { existsSync } from "node:fs";
import { homedir } from "node:os";
import { join, resolve } from "node:path";
import { z } from "zod";
import { ConfigError } from "./config-error.ts";
import { readConfigFile, unknownName } from "./config-file.ts";
import type { ConfigKey } from "./config-key.ts";
import { type ConfigName, type ConfigValues, configKeys, isConfigName } from "./config-keys.ts";
import { nearest } from "./nearest.ts";

/** Where the parts of a configuration come from. */
export interface ConfigSources {
  /** `--set` and the flags of their own, as written. */
  readonly flags: readonly { readonly name: string; readonly text: string; readonly flag: string }[];
  /** `--config`; absent: TRIVIUM_CONFIG, else `trivium.json` in the folder when there is one. */
  readonly file?: string | undefined;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly folder: string;
}

/** The effective configuration. */
export interface Config {
  readonly values: ConfigValues;
  /** For each setting: `default`, a file with line, a variable, or a flag. */
  readonly origins: Readonly<Record<ConfigName, string>>;
}

/** Variables with our prefix that are no settings. */
const otherVariables: ReadonlySet<string> = new Set(["TRIVIUM_CONFIG", "TRIVIUM_DEFAULT_WORKSPACE"]);

/**
 * Puts defaults, file, environment and flags together; later ones win.
 *
 * @throws {@link ConfigError} for an unknown name or an unusable value, with the place it stands at.
 */
export function readConfig(sources: ConfigSources): Config {
  const { env, folder, flags } = sources;
  const values: Record<string, unknown> = defaults(sources);
  const origins: Record<string, string> = Object.fromEntries(
    Object.keys(configKeys).map((name) => [name, "default"]),
  );
  const set = (name: ConfigName, input: unknown, origin: { place: string; folder: string }): void => {
    values[name] = checked(name, input, origin);
    origins[name] = origin.place;
  };
  for (const { name, value, place, folder: base } of fileValues(sources))
    set(name, value, { place, folder: base });
  const byVariable = new Map(
    Object.entries(configKeys).flatMap(([name, { env: variable }]: [string, ConfigKey]) =>
      variable === undefined ? [] : [[variable, name]],
    ),
  );
  for (const [variable, text] of Object.entries(env)) {
    if (!variable.startsWith("TRIVIUM_") || text === undefined || otherVariables.has(variable)) continue;
    const name = byVariable.get(variable);
    if (name === undefined || !isConfigName(name)) throw unknownVariable(variable, byVariable.keys());
    set(name, fromText(name, text), { place: variable, folder });
  }
  for (const { name, text, flag } of flags) {
    if (!isConfigName(name)) throw unknownName(name, flag);
    set(name, fromText(name, text), { place: flag, folder });
  }
  // Each value passed the schema of its key.
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion
  return { values: values as ConfigValues, origins: origins as Record<ConfigName, string> };
}

function defaults({ env, folder }: ConfigSources): Record<string, unknown> {
  const values: Record<string, unknown> = Object.fromEntries(
    Object.entries(configKeys).map(([name, { default: value }]: [string, ConfigKey]) => [name, value]),
  );
  values["workspace"] = resolve(folder, env["TRIVIUM_DEFAULT_WORKSPACE"] ?? ".");
  const state = env["XDG_STATE_HOME"];
  values["dataDir"] = join(
    state === undefined || state === "" ? join(homedir(), ".local", "state") : state,
    "trivium",
  );
  return values;
}

function fileValues({ file, env, folder }: ConfigSources) {
  const named = file ?? env["TRIVIUM_CONFIG"];
  if (named !== undefined) return readConfigFile(resolve(folder, named));
  const usual = join(folder, "trivium.json");
  return existsSync(usual) ? readConfigFile(usual) : [];
}

function checked(
  name: ConfigName,
  input: unknown,
  { place, folder }: { place: string; folder: string },
): unknown {
  const { schema, isPath, isSecret }: ConfigKey = configKeys[name];
  const result = schema.safeParse(input);
  if (!result.success) {
    const shown = isSecret === true ? "its value" : JSON.stringify(input);
    throw new ConfigError(
      `${place}: ${name} cannot be ${shown}: ${z.prettifyError(result.error).replaceAll("✖ ", "").replaceAll("\n", " ")}`,
    );
  }
  return isPath === true && typeof result.data === "string" ? resolve(folder, result.data) : result.data;
}

/** A value written as text: as it is for texts, 1 or 0 for switches, by commas for lists, else JSON. */
function fromText(name: ConfigName, text: string): unknown {
  const { schema }: ConfigKey = configKeys[name];
  if (schema.safeParse(text).success) return text;
  const isSwitch = schema.safeParse(true).success && !schema.safeParse(1).success;
  if (isSwitch && (text === "1" || text === "0")) return text === "1";
  try {
    return JSON.parse(text);
  } catch {
    // Not JSON: a list by commas, else the schema will say what it wants instead of this text.
    const list = text
      .split(",")
      .map((item) => item.trim())
      .filter((item) => item !== "");
    return schema.safeParse(list).success ? list : text;
  }
}

function unknownVariable(variable: string, known: Iterable<string>): ConfigError {
  const suggestion = nearest(variable, known);
  return new ConfigError(
    `there is no setting in the variable ${variable}${suggestion === undefined ? "" : `; did you mean ${suggestion}`}`,
  );
}
