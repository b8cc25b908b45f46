import { resolve } from "node:path";
import { TriviumError } from "@trivium/core";
import { realDirectory } from "../execute/call-directory.ts";
import { isInsideRoots } from "../files/path-jail.ts";
import type { RuntimePorts } from "../runtime-ports.ts";

/** Where a session works. */
export interface SessionDirectory {
  /** Without symbolic links. */
  readonly directory: string;
  /** Folders its tools must stay in; undefined: no limit. */
  readonly workspaceRoots: readonly string[] | undefined;
}

/**
 * The folder a session asks for, checked. Under an empty list of roots a session may choose a folder inside the
 * workspace, and its tools stay in that.
 *
 * @throws {@link TriviumError} `invalidInput` when it is no directory or outside the roots.
 */
export async function findSessionDirectory(
  { workspace, settings }: RuntimePorts,
  cwd: string | undefined,
): Promise<SessionDirectory> {
  const wanted = resolve(workspace, cwd ?? ".");
  const directory = await realDirectory(wanted);
  if (directory === undefined)
    throw new TriviumError("invalidInput", `${wanted} is not an existing directory`);
  const { workspaceRoots } = settings;
  if (workspaceRoots === undefined) return { directory, workspaceRoots: undefined };
  const allowed = await realDirectories(workspaceRoots.length === 0 ? [workspace] : workspaceRoots);
  if (cwd !== undefined && !isInsideRoots(directory, allowed)) {
    throw new TriviumError("invalidInput", `${wanted} is outside the workspace roots`);
  }
  return { directory, workspaceRoots: workspaceRoots.length === 0 ? [directory] : allowed };
}

async function realDirectories(paths: readonly string[]): Promise<string[]> {
  const found = await Promise.all(paths.map(realDirectory));
  return found.filter((path) => path !== undefined);
}
