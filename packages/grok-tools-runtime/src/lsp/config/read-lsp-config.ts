import { readFileSync, statSync } from "node:fs";
import { join, resolve, sep } from "node:path";
import { systemCodeOf } from "../../file-error.ts";
import { isJsonObject } from "../../json.ts";
import type { ToolSettings } from "../../tool-settings.ts";
import { type LspServerConfig, lspServerConfig } from "./lsp-server-config.ts";

/** Where language servers are looked for. */
export interface LspConfigPlace {
  readonly settings: Pick<ToolSettings, "lsp">;
  /** Folder of the session, absolute and without symbolic links. */
  readonly directory: string;
  readonly homeDirectory: string | undefined;
}

/** The language servers of a session. */
export interface LspConfig {
  /** By name, in the order of the names: of two servers for an extension the first is asked. */
  readonly servers: ReadonlyMap<string, LspServerConfig>;
  /** What is wrong with the files; the entries concerned are left out. */
  readonly problems: readonly string[];
}

const MAX_FILE_BYTES = 1024 * 1024;

/**
 * The servers of the user's `~/.grok/lsp.json`, of the settings and of the project's `.grok/lsp.json`; the later
 * replaces the earlier of the same name. The file of a project starts programs, so it counts in trusted folders only.
 *
 * Synchronous, because whether a tool can be used is a question without a wait: at most two small files.
 */
export function readLspConfig({ settings, directory, homeDirectory }: LspConfigPlace): LspConfig {
  const problems: string[] = [];
  const user = homeDirectory === undefined ? {} : readServers(lspFileIn(homeDirectory), problems);
  const project = isTrusted(directory, settings.lsp.trustedFolders)
    ? readServers(lspFileIn(directory), problems)
    : {};
  const all = Object.entries({ ...user, ...settings.lsp.servers, ...project });
  const servers = new Map(all.sort(([a], [b]) => (a < b ? -1 : 1)));
  return { servers, problems };
}

/** The file with the servers of a user or a project. */
function lspFileIn(folder: string): string {
  return join(folder, ".grok", "lsp.json");
}

function isTrusted(directory: string, trustedFolders: readonly string[]): boolean {
  return trustedFolders.some((folder) => {
    const trusted = resolve(folder);
    return directory === trusted || directory.startsWith(trusted.endsWith(sep) ? trusted : trusted + sep);
  });
}

function readServers(path: string, problems: string[]): Record<string, LspServerConfig> {
  const content = readJson(path, problems);
  if (content === undefined) return {};
  if (!isJsonObject(content)) {
    problems.push(`${path}: expected an object with servers by name`);
    return {};
  }
  const servers: Record<string, LspServerConfig> = {};
  for (const [name, entry] of Object.entries(content)) {
    const parsed = lspServerConfig.safeParse(entry);
    if (parsed.success) servers[name] = parsed.data;
    else {
      const [issue] = parsed.error.issues;
      problems.push(`${path}: ${[name, ...(issue?.path ?? [])].join(".")}: ${issue?.message ?? "not valid"}`);
    }
  }
  return servers;
}

function readJson(path: string, problems: string[]): unknown {
  try {
    const stats = statSync(path);
    // A pipe in its place would block.
    if (!stats.isFile() || stats.size > MAX_FILE_BYTES) {
      problems.push(`${path}: expected a file of at most ${MAX_FILE_BYTES} bytes`);
      return undefined;
    }
    return JSON.parse(readFileSync(path, "utf8"));
  } catch (cause) {
    const code = systemCodeOf(cause);
    if (code === "ENOENT" || code === "ENOTDIR") return undefined;
    problems.push(`${path}: ${cause instanceof Error ? cause.message : String(cause)}`);
    return undefined;
  }
}
