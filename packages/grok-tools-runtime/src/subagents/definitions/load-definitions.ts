import { readdir } from "node:fs/promises";
import { dirname, join } from "node:path";
import { abortable, type Logger } from "@trivium/core";
import type { Roots } from "../../files/path-jail.ts";
import { readBoundedFile } from "../read-bounded-file.ts";
import { repositoryRoot } from "../repository-root.ts";
import { parseDefinition } from "./parse-definition.ts";
import type { SubagentDefinition } from "./subagent-definition.ts";

/** Files of one folder that are looked at. */
const MAX_FILES = 200;
const MAX_FILE_BYTES = 256 * 1024;

/** Where definitions are looked for. */
export interface DefinitionSources {
  /** Folder of the session, absolute. */
  readonly directory: string;
  readonly homeDirectory: string | undefined;
  /** Folders that files of the project must stay in. */
  readonly workspaceRoots: Roots;
  readonly logger: Logger;
  readonly signal: AbortSignal;
}

/** A definition from a file and whether it belongs to the project. */
export interface FoundDefinition {
  readonly definition: SubagentDefinition;
  readonly isOfProject: boolean;
}

/**
 * The definitions of the project, nearest folder first, then those of the user. Files that cannot be used are named in
 * the log.
 *
 * @throws the reason of the signal.
 */
export async function loadDefinitions(sources: DefinitionSources): Promise<FoundDefinition[]> {
  const { directory, homeDirectory, signal } = sources;
  const found: FoundDefinition[] = [];
  const root = await abortable(repositoryRoot(directory), signal);
  for (const folder of upwards(directory, root ?? directory)) {
    for (const place of [".grok/agents", ".claude/agents"]) {
      found.push(...(await loadFolder(join(folder, place), { ...sources, isOfProject: true })));
    }
  }
  if (homeDirectory === undefined) return found;
  for (const place of [".grok/agents", ".claude/agents", ".grok/bundled/agents"]) {
    found.push(...(await loadFolder(join(homeDirectory, place), { ...sources, isOfProject: false })));
  }
  return found;
}

async function loadFolder(
  folder: string,
  { logger, signal, isOfProject, workspaceRoots }: DefinitionSources & { isOfProject: boolean },
): Promise<FoundDefinition[]> {
  // Most folders are not there; one that cannot be read is treated alike.
  const entries = await abortable(
    readdir(folder).catch(() => []),
    signal,
  );
  // The user's own may be used from any project.
  const roots = isOfProject ? workspaceRoots : undefined;
  const files = entries.filter((name) => name.endsWith(".md")).sort();
  const found: FoundDefinition[] = [];
  for (const name of files.slice(0, MAX_FILES)) {
    const path = join(folder, name);
    const text = await abortable(readBoundedFile(path, { maxBytes: MAX_FILE_BYTES, roots }), signal);
    const parsed = text === undefined ? "it cannot be read, or is too large" : parseDefinition(text, name);
    if (typeof parsed === "string") {
      logger.warn({ path, reason: parsed }, "a subagent definition cannot be used");
      continue;
    }
    const { definition, ignoredKeys } = parsed;
    if (ignoredKeys.length > 0)
      logger.warn({ path, ignoredKeys }, "keys of a subagent definition are ignored");
    found.push({ definition, isOfProject });
  }
  return found;
}

/** A folder and those above it, up to and including `top`. */
export function* upwards(folder: string, top: string): Generator<string> {
  for (let current = folder; ; current = dirname(current)) {
    yield current;
    if (current === top || dirname(current) === current) return;
  }
}
