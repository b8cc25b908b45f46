import { lstat, rmdir } from "node:fs/promises";
import { dirname } from "node:path";
import { systemCodeOf } from "../../file-error.ts";

/** The folders of a new file that are not there yet, the innermost first. */
export async function missingFolders(path: string): Promise<string[]> {
  const missing: string[] = [];
  for (let folder = dirname(path); folder !== dirname(folder); folder = dirname(folder)) {
    const cause: unknown = await lstat(folder).then(
      () => undefined,
      (thrown: unknown) => thrown,
    );
    if (systemCodeOf(cause) !== "ENOENT") break;
    missing.push(folder);
  }
  return missing;
}

/** Removes folders that are still empty, in the given order. */
export async function removeEmptyFolders(folders: readonly string[]): Promise<void> {
  for (const folder of folders) {
    // Not made after all, or somebody has put something in.
    await rmdir(folder).catch(() => undefined);
  }
}
