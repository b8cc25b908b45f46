import { readdir, rm } from "node:fs/promises";
import { join } from "node:path";

const ROOT_LOCKS = ["index.lock", "packed-refs.lock", "HEAD.lock", "config.lock"];

/**
 * Removes what a git that was killed has left in a repository of snapshots; another one would wait for it in vain. Nobody
 * else works with the repository.
 */
export async function removeStaleLocks(repository: string): Promise<void> {
  for (const name of ROOT_LOCKS) await rm(join(repository, name), { force: true });
  const refs = join(repository, "refs");
  for (const name of await namesBelow(refs)) {
    if (name.endsWith(".lock")) await rm(join(refs, name), { force: true });
  }
}

/** None when there is no such folder. */
async function namesBelow(folder: string): Promise<string[]> {
  try {
    return await readdir(folder, { recursive: true });
  } catch (cause) {
    if (cause instanceof Error && "code" in cause && cause.code === "ENOENT") return [];
    throw cause;
  }
}
