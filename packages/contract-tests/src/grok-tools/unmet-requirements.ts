import { spawnSync } from "node:child_process";
import { accessSync, constants } from "node:fs";
import type { Vector } from "./vector.ts";

/** What cases may need, and whether it is here. */
const requirements: Readonly<Record<string, () => boolean>> = {
  // The server searches without ripgrep too.
  rg: () => true,
  posix_shell: () => isExecutable("/bin/sh"),
  posix_fs: () => process.platform !== "win32",
  git: () => spawnSync("git", ["--version"]).status === 0,
  // Of the server, not of the machine: where the tool is registered, these hold for the server under test.
  skill_discovery: () => true,
  nothing_configured: () => true,
};
const known = new Map<string, boolean>();

/**
 * What a case needs and this machine lacks.
 *
 * @throws for a requirement that is not known here.
 */
export function unmetRequirements({ id, requires = [] }: Vector): string[] {
  return requires.filter((name) => {
    const look = requirements[name];
    if (look === undefined) throw new Error(`${id} requires ${name}, which the runner does not know`);
    const isMet = known.get(name) ?? look();
    known.set(name, isMet);
    return !isMet;
  });
}

function isExecutable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    // The question was whether it is there.
    return false;
  }
}
