import { readFile } from "node:fs/promises";
import { join } from "node:path";

/** Where the user's git configuration is looked for. */
export interface IgnoreEnvironment {
  readonly homeDirectory: string | undefined;
  readonly environment: Readonly<Record<string, string | undefined>>;
}

/**
 * The user's own exclude file: `core.excludesFile` of the user's git configuration, else `git/ignore` in the
 * configuration folder. Undefined when there is no home.
 */
export async function homeGitExcludes(scope: IgnoreEnvironment): Promise<string | undefined> {
  const { homeDirectory, environment } = scope;
  if (homeDirectory === undefined) return undefined;
  const configured = environment["XDG_CONFIG_HOME"];
  const configFolder =
    configured === undefined || configured === "" ? join(homeDirectory, ".config") : configured;
  for (const config of [join(homeDirectory, ".gitconfig"), join(configFolder, "git", "config")]) {
    // Having no configuration is usual.
    const named = excludesFileOf(await readFile(config, "utf8").catch(() => ""));
    if (named !== undefined) return named.startsWith("~/") ? join(homeDirectory, named.slice(2)) : named;
  }
  return join(configFolder, "git", "ignore");
}

function excludesFileOf(config: string): string | undefined {
  let isCore = false;
  let found: string | undefined;
  for (const line of config.split("\n")) {
    const section = /^\s*\[\s*([^\]\s]+)/.exec(line)?.[1];
    if (section !== undefined) isCore = section.toLowerCase() === "core";
    const value = /^\s*excludesfile\s*=\s*(.*)$/i.exec(line)?.[1];
    if (isCore && value !== undefined) found = value.trim().replace(/^"(.*)"$/, "$1");
  }
  return found;
}
