import type { ConfigValues } from "../config/config-keys.ts";

/**
 * `models` and `defaultModel` of the server's configuration with the keys that session settings use: camelCase in
 * `trivium.json`, snake_case in `settings.json`.
 */
export function toSettingsKeys(values: Pick<ConfigValues, "models" | "defaultModel">) {
  const models = Object.fromEntries(
    Object.entries(values.models).map(([name, profile]) => [
      name,
      Object.fromEntries(Object.entries(profile).map(([key, value]) => [snakeCase(key), value])),
    ]),
  );
  return { models, ...(values.defaultModel !== undefined && { default_model: values.defaultModel }) };
}

/** The same as the model catalogue takes it. */
export function toModelSettings(values: Pick<ConfigValues, "models" | "defaultModel">) {
  const { models } = toSettingsKeys(values);
  return { api: {}, models, ...(values.defaultModel !== undefined && { defaultModel: values.defaultModel }) };
}

/** Variables that hold keys of the configured models, whatever they are called. Commands never get them. */
export function keyVariables({ models }: Pick<ConfigValues, "models">): string[] {
  return Object.values(models).flatMap(({ apiKeyEnv, api_key_env }) =>
    [apiKeyEnv, api_key_env].filter((name) => typeof name === "string"),
  );
}

function snakeCase(key: string): string {
  return key.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
}
