import { lstat, realpath } from "node:fs/promises";
import { basename, dirname, join, relative, sep } from "node:path";
import type { ResourceDefinition } from "../../session-resource.ts";
import { excludeFileOf, FolderRules } from "./folder-rules.ts";
import { IgnoreFiles } from "./ignore-files.ts";

/** Whether git's rules ignore a path: the rules of the repository the session's folder is in. */
export class IgnoreFilter {
  readonly files: IgnoreFiles;
  readonly #sessionDirectory: string;

  constructor(files: IgnoreFiles, sessionDirectory: string) {
    this.files = files;
    this.#sessionDirectory = sessionDirectory;
  }

  /**
   * Whether the path or a folder above it is ignored. Never outside the repository, and never without one. The files
   * are looked at each time, so a change of rules counts at once.
   */
  async isIgnored(path: string): Promise<boolean> {
    const root = await repositoryOf(this.#sessionDirectory);
    if (root === undefined) return false;
    const real = await realFile(path);
    const names = relative(root, real).split(sep);
    if (names[0] === ".." || names[0] === "") return false;
    let rules = await FolderRules.of(root, this.files, { git: true, dotIgnore: false });
    let folder = root;
    for (const [index, name] of names.entries()) {
      const entry = join(folder, name);
      const isFolder = index < names.length - 1 || (await isDirectory(entry));
      if (rules.isIgnored(name, isFolder)) return true;
      if (isFolder) rules = await rules.enter(entry);
      folder = entry;
    }
    return false;
  }
}

/** The ignore filter of a session. */
export const ignoreFilter: ResourceDefinition<IgnoreFilter> = {
  name: "ignore filter",
  create: (scope) => new IgnoreFilter(new IgnoreFiles(scope), scope.sessionDirectory),
};

async function repositoryOf(folder: string): Promise<string | undefined> {
  const folders = [folder];
  for (let parent = dirname(folder); parent !== folders.at(-1); parent = dirname(parent))
    folders.push(parent);
  // All at once: most of them have nothing to wait for.
  const excludes = await Promise.all(folders.map(excludeFileOf));
  return folders[excludes.findIndex((path) => path !== undefined)];
}

/** A file that does not exist yet has a real folder at least. */
async function realFile(path: string): Promise<string> {
  return await realpath(path).catch(async () => {
    const folder = await realpath(dirname(path)).catch(() => dirname(path));
    return join(folder, basename(path));
  });
}

async function isDirectory(path: string): Promise<boolean> {
  return (await lstat(path).catch(() => undefined))?.isDirectory() ?? false;
}
