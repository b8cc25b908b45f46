import type { ConfigKey } from "../config/config-key.ts";
import { configKeys } from "../config/config-keys.ts";
import type { Config } from "../config/read-config.ts";

/** One row of `trivium config print`. */
export interface ConfigRow {
  readonly name: string;
  /** The value; `(secret)` for secrets that are set. */
  readonly value: unknown;
  readonly origin: string;
}

/** The effective configuration, secrets masked. */
export function configRows({ values, origins }: Config): ConfigRow[] {
  return Object.entries<ConfigKey>(configKeys).map(([name, { isSecret }]) => {
    const value: unknown = Reflect.get(values, name);
    return {
      name,
      value: isSecret === true && value !== undefined ? "(secret)" : (value ?? null),
      origin: String(Reflect.get(origins, name)),
    };
  });
}

/** The rows as aligned text. */
export function formatConfig(rows: readonly ConfigRow[]): string {
  const width = Math.max(...rows.map(({ name }) => name.length));
  const shown = rows.map((row) => ({ ...row, text: JSON.stringify(row.value) }));
  const valueWidth = Math.min(48, Math.max(...shown.map(({ text }) => text.length)));
  return shown
    .map(({ name, text, origin }) => `${name.padEnd(width)}  ${text.padEnd(valueWidth)}  ${origin}`)
    .join("\n");
}
