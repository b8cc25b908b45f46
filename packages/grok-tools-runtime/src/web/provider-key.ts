import { readFile } from "node:fs/promises";
import { TriviumError } from "@trivium/core";
import type { KeySource } from "../tool-settings.ts";

/**
 * The key of a provider; undefined when it needs none.
 *
 * @throws {@link TriviumError} `unauthenticated` when a key is configured and not there. Says where, never what.
 */
export async function readProviderKey(
  { apiKeyEnv, apiKeyFile }: KeySource,
  environment: Readonly<Record<string, string | undefined>>,
): Promise<string | undefined> {
  if (apiKeyEnv !== undefined) {
    const key = environment[apiKeyEnv]?.trim();
    if (key !== undefined && key !== "") return key;
    throw new TriviumError("unauthenticated", `the server has no key: the variable ${apiKeyEnv} is not set`);
  }
  if (apiKeyFile === undefined) return undefined;
  const text = await readFile(apiKeyFile, "utf8").catch((cause: unknown) => {
    throw new TriviumError("unauthenticated", "the server has no key: its key file cannot be read", {
      cause,
    });
  });
  const key = text.trim();
  if (key !== "") return key;
  throw new TriviumError("unauthenticated", "the server has no key: its key file is empty");
}

/** A text from elsewhere without a key that it may repeat. */
export function redactKey(text: string, key: string | undefined): string {
  return key === undefined ? text : text.replaceAll(key, "***REDACTED***");
}
