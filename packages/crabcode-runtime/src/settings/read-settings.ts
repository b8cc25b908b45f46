import { realpathSync } from "node:fs";
import { dirname, isAbsolute, join, resolve } from "node:path";
import type { Logger } from "@trivium/core";
import type { SettingsSources } from "../crabcode-runtime.ts";
import { isInside } from "../paths/is-inside.ts";
import { readJsonObject } from "./json-object-file.ts";
import { isLayer, mergeSettings, withoutUntrustedKeys } from "./merge-settings.ts";
import { parseSessionSettings, type SessionSettings } from "./session-settings.ts";

type Layer = Readonly<Record<string, unknown>>;

/**
 * Reads the settings of a session in `cwd`: the server's models, then the user's, the project's and the local
 * file, one more file of the server, and the policy. A broken file is ignored with a warning.
 */
export function readSettings(sources: SettingsSources, cwd: string, logger: Logger): SessionSettings {
  const { userFolder, flagFile } = sources;
  const user = userFolder === undefined ? {} : readLayer(join(userFolder, "settings.json"), logger);
  const policy = userFolder === undefined ? {} : readLayer(join(userFolder, "managed-settings.json"), logger);
  const flag = flagFile === undefined ? {} : readLayer(flagFile, logger);
  const isTrusted = isTrustedFolder(cwd, [user, policy]);
  const trusted = [sources.base ?? {}, user, flag, policy].reduce(mergeSettings);
  const project = ["settings.json", "settings.local.json"].map((name) => {
    const file = join(cwd, ".crabcode", name);
    const layer = withoutKeys(readLayer(file, logger), ["trusted_directories"]);
    if (isTrusted) return layer;
    const ignored: string[] = [];
    const rest = withoutUntrustedKeys(layer, trusted, ignored);
    if (ignored.length > 0) {
      logger.warn({ file, ignored }, "settings of a folder that is not trusted are ignored");
    }
    return rest;
  });
  const layers = [sources.base ?? {}, user, ...project, flag, policy];
  const settings = parseSessionSettings(layers.reduce(mergeSettings), { isTrustedFolder: isTrusted });
  const { problems } = settings.hooks;
  // A hook that does not run may be one that was to forbid something.
  if (problems.length > 0) logger.warn({ problems }, "hooks of the settings are left out");
  return settings;
}

function readLayer(file: string, logger: Logger): Layer {
  return withAbsoluteScripts(readJsonObject(file, logger) ?? {}, dirname(file));
}

/** A script named in a file lies beside it, wherever the session works. */
function withAbsoluteScripts(layer: Layer, folder: string): Layer {
  const fix = (profile: unknown): unknown => {
    const script = isLayer(profile) ? profile["script_path"] : undefined;
    return isLayer(profile) && typeof script === "string"
      ? { ...profile, script_path: resolve(folder, script) }
      : profile;
  };
  const { api, models } = { api: layer["api"], models: layer["models"] };
  return {
    ...layer,
    ...(api !== undefined && { api: fix(api) }),
    ...(isLayer(models) && {
      models: Object.fromEntries(Object.entries(models).map(([name, profile]) => [name, fix(profile)])),
    }),
  };
}

function isTrustedFolder(cwd: string, layers: readonly Layer[]): boolean {
  return layers
    .flatMap((layer) => layer["trusted_directories"])
    .some((folder) => {
      if (typeof folder !== "string" || !isAbsolute(folder)) return false;
      return isInside(realPath(folder), cwd);
    });
}

function realPath(folder: string): string {
  try {
    return realpathSync(folder);
  } catch {
    // A folder that does not exist trusts nothing that exists.
    return folder;
  }
}

function withoutKeys(layer: Layer, keys: readonly string[]): Layer {
  return Object.fromEntries(Object.entries(layer).filter(([key]) => !keys.includes(key)));
}
