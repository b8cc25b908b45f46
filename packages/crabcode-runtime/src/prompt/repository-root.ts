import { existsSync } from "node:fs";
import { dirname, join } from "node:path";

/** The folder with `.git` at or above a folder. */
export function repositoryRoot(folder: string): string | undefined {
  for (let at = folder; ; at = dirname(at)) {
    if (existsSync(join(at, ".git"))) return at;
    if (dirname(at) === at) return undefined;
  }
}
