import { realpath } from "node:fs/promises";
import { join } from "node:path";
import { assertPathInsideRoots } from "../files/path-jail.ts";
import type { SessionScope } from "../session-resource.ts";

/** Whose memory a document belongs to. */
export type MemorySource = "workspace" | "session" | "global";

/** A folder with documents. */
export interface MemoryRoot {
  readonly source: MemorySource;
  /** Absolute, as it is configured. */
  readonly path: string;
  /** Without symbolic links. */
  readonly realPath: string;
}

/** The folders that exist, in the order in which a relative path is looked up. */
export async function memoryRoots(scope: SessionScope): Promise<MemoryRoot[]> {
  const { sessionDirectory, sessionFolder, workspaceRoots, settings } = scope;
  const { globalDir } = settings.memory;
  const roots: (MemoryRoot | undefined)[] = await Promise.all([
    toRoot("workspace", join(sessionDirectory, ".grok", "memory"), workspaceRoots),
    toRoot("session", sessionFolder, undefined),
    globalDir === undefined ? undefined : toRoot("global", globalDir, undefined),
  ]);
  return roots.filter((root) => root !== undefined);
}

async function toRoot(
  source: MemorySource,
  path: string,
  allowed: readonly string[] | undefined,
): Promise<MemoryRoot | undefined> {
  try {
    // A project must not lead out of the allowed folders by a link in the place of its memory.
    await assertPathInsideRoots(path, allowed);
    return { source, path, realPath: await realpath(path) };
  } catch {
    // Not there, or not to be used: then it has no documents.
    return undefined;
  }
}
