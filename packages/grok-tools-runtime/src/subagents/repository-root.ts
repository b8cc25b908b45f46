import { stat } from "node:fs/promises";
import { dirname, join } from "node:path";

/** The folder of the git repository around a folder; undefined outside of one. */
export async function repositoryRoot(folder: string): Promise<string | undefined> {
  for (let current = folder; ; current = dirname(current)) {
    // A folder in an ordinary repository, a file in a worktree or submodule.
    const found = await stat(join(current, ".git")).catch(() => undefined);
    if (found !== undefined) return current;
    if (dirname(current) === current) return undefined;
  }
}
