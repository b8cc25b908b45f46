import type { Stats } from "node:fs";
import { lstat } from "node:fs/promises";
import { join } from "node:path";
import { runGit, splitNames } from "../../git/run-git.ts";
import { isInside } from "../../paths/is-inside.ts";
import type { RunProgram } from "../../ports/program-port.ts";
import { RealFolders } from "./real-folders.ts";

/** Repositories inside one another that are looked into. */
const MAX_NESTING = 8;
const STATS_AT_ONCE = 64;

/** Where files are looked for. */
export interface ListFilesOptions {
  readonly run: RunProgram;
  /** Folder of the session, symbolic links resolved. */
  readonly folder: string;
  /** Lists a folder that lies in no repository. */
  readonly listOutside: (folder: string) => Promise<Uint8Array>;
  /** What lies in this folder is left out. */
  readonly excluded: string;
  readonly signal: AbortSignal | undefined;
}

/** A file that a snapshot holds. */
export interface ListedFile {
  /** Relative to the folder, with `/`. */
  readonly path: string;
  readonly sizeBytes: number;
}

/**
 * The files and symbolic links of a folder that no ignore rule hides, and those that its repository tracks all the
 * same. Repositories inside it belong to it. The repository is read, never written.
 *
 * @param also further paths that are listed when they exist
 * @throws TriviumError when git cannot list them; the reason of the signal
 */
export async function listFiles(
  options: ListFilesOptions,
  also: readonly string[] = [],
): Promise<ListedFile[]> {
  const listing = new FileListing(options);
  await listing.collect("", 0);
  await listing.add(also);
  return [...listing.files.values()].sort((a, b) => (a.path < b.path ? -1 : 1));
}

class FileListing {
  readonly files = new Map<string, ListedFile>();
  readonly #options: ListFilesOptions;
  readonly #folders: RealFolders;

  constructor(options: ListFilesOptions) {
    this.#options = options;
    this.#folders = new RealFolders(options.folder);
  }

  async collect(prefix: string, depth: number): Promise<void> {
    const { run, listOutside, signal } = this.#options;
    const folder = join(this.#options.folder, prefix);
    const listed = (await isInRepository(run, folder, signal))
      ? (await runGit(run, { args: OWN_LISTING, folder, signal })).stdout
      : await listOutside(folder);
    const paths = splitNames(listed).map((name) => `${prefix}${name.replace(/\/$/, "")}`);
    const nested = await this.add(paths);
    if (depth >= MAX_NESTING) return;
    for (const path of nested) await this.collect(`${path}/`, depth + 1);
  }

  /** Adds what is a file or a link. Gives the folders: repositories in the repository are listed as such. */
  async add(paths: readonly string[]): Promise<string[]> {
    const { folder, signal } = this.#options;
    const kept = paths.filter((path) => isKept(path, this.#options));
    const nested: string[] = [];
    for (let at = 0; at < kept.length; at += STATS_AT_ONCE) {
      signal?.throwIfAborted();
      const some = kept.slice(at, at + STATS_AT_ONCE);
      const stats = await Promise.all(
        // A tracked file whose folder is a link by now lies somewhere else.
        some.map(async (path) => ((await this.#folders.hold(path)) ? statOf(join(folder, path)) : undefined)),
      );
      for (const [index, path] of some.entries()) {
        const stat = stats[index];
        if (stat?.isFile() === true || stat?.isSymbolicLink() === true) {
          this.files.set(path, { path, sizeBytes: stat.size });
        } else if (stat?.isDirectory() === true) nested.push(path);
      }
    }
    return nested;
  }
}

const OWN_LISTING = ["ls-files", "-z", "--cached", "--others", "--exclude-standard"];

/** False too for a folder that its repository ignores: its rules would hide everything. */
async function isInRepository(
  run: RunProgram,
  folder: string,
  signal: AbortSignal | undefined,
): Promise<boolean> {
  const args = ["check-ignore", "--quiet", "."];
  const { exitCode } = await runGit(run, { args, folder, answers: [0, 1, 128], signal });
  return exitCode === 1;
}

function isKept(path: string, { folder, excluded }: ListFilesOptions): boolean {
  if (path.split("/").some((name) => name.toLowerCase() === ".git")) return false;
  return !isInside(excluded, join(folder, path));
}

/** Undefined for what is gone. */
async function statOf(path: string): Promise<Stats | undefined> {
  try {
    return await lstat(path);
  } catch {
    return undefined;
  }
}
