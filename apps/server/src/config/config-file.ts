import { readFileSync } from "node:fs";
import { dirname, resolve } from "node:path";
import { getNodeValue, type Node, type ParseError, parseTree, printParseErrorCode } from "jsonc-parser";
import { ConfigError } from "./config-error.ts";
import { type ConfigName, configKeys, isConfigName } from "./config-keys.ts";
import { nearest } from "./nearest.ts";

/** One value of a configuration file and where it stands. */
export interface FileValue {
  readonly name: ConfigName;
  readonly value: unknown;
  /** `FILE:LINE`. */
  readonly place: string;
  readonly folder: string;
}

/**
 * Reads a `trivium.json`: JSON with comments and trailing commas.
 *
 * @throws {@link ConfigError} for a file that cannot be read or parsed, and for an unknown key.
 */
export function readConfigFile(path: string): FileValue[] {
  const text = readText(path);
  const errors: ParseError[] = [];
  const tree = parseTree(text, errors, { allowTrailingComma: true });
  const [error] = errors;
  if (error !== undefined) {
    throw new ConfigError(`${path}:${lineAt(text, error.offset)}: ${printParseErrorCode(error.error)}`);
  }
  if (tree?.type !== "object") throw new ConfigError(`${path}: a configuration is an object { … }`);
  return collect(tree, "", { path, text });
}

function readText(path: string): string {
  try {
    return readFileSync(path, "utf8");
  } catch (cause) {
    throw new ConfigError(`the configuration file ${path} cannot be read`, { cause });
  }
}

function collect(object: Node, prefix: string, source: { path: string; text: string }): FileValue[] {
  const values: FileValue[] = [];
  for (const property of object.children ?? []) {
    const [label, value] = property.children ?? [];
    if (label === undefined || value === undefined) continue;
    const name = `${prefix}${String(label.value)}`;
    // "$schema" helps editors and says nothing to us.
    if (name === "$schema") continue;
    const place = `${source.path}:${lineAt(source.text, label.offset)}`;
    if (isConfigName(name)) {
      values.push({ name, value: getNodeValue(value), place, folder: dirname(resolve(source.path)) });
    } else if (value.type === "object" && isPrefix(name)) {
      values.push(...collect(value, `${name}.`, source));
    } else {
      throw unknownName(name, place);
    }
  }
  return values;
}

function isPrefix(name: string): boolean {
  return Object.keys(configKeys).some((key) => key.startsWith(`${name}.`));
}

/** The error for a name that is no setting. */
export function unknownName(name: string, place: string): ConfigError {
  const suggestion = nearest(name, Object.keys(configKeys));
  return new ConfigError(
    `${place}: there is no setting ${name}${suggestion === undefined ? "; trivium config print lists all" : `; did you mean ${suggestion}`}`,
  );
}

function lineAt(text: string, offset: number): number {
  return text.slice(0, offset).split("\n").length;
}
