import type { Stats } from "node:fs";
import { chmod, lstat, mkdir, open, rename, rm, rmdir, symlink, unlink } from "node:fs/promises";
import { dirname, join } from "node:path";
import { isAsKept } from "./kept-file.ts";
import { LINK_MODE, type TreeChange, type TreeFile } from "./tree-change.ts";

const EXECUTE_BITS = 0o111;
const READ_BITS = 0o444;

/** What became of a list of changes. Paths are relative, in the order of the list. */
export interface RestoredFiles {
  readonly written: readonly string[];
  readonly deleted: readonly string[];
  /** One sentence each about what could not be changed; that is left as it was. */
  readonly problems: readonly string[];
}

/** What files are brought back with. */
export interface RestoreOptions {
  /** Absolute, symbolic links resolved. */
  readonly folder: string;
  /** Bytes of the blobs that are to be written, some at a time. */
  readonly blobs: AsyncIterable<ReadonlyMap<string, Uint8Array>>;
  /** Names a file for a moment, before it takes its place. */
  readonly newName: () => string;
}

/**
 * Changes exactly the listed files: first those that go, with the folders that become empty by it, then those that are
 * written. Each takes its place at once, whole. No symbolic link on the way is followed. What is not as `from` says was
 * changed by somebody else, whose work nobody has kept; it stays.
 */
export async function restoreFiles(
  changes: readonly TreeChange[],
  options: RestoreOptions,
): Promise<RestoredFiles> {
  const problems: string[] = [];
  const attempt = async (path: string, job: () => Promise<void>): Promise<boolean> => {
    try {
      await job();
      return true;
    } catch (cause) {
      problems.push(`${path}: ${cause instanceof Error ? cause.message : "it could not be changed"}`);
      return false;
    }
  };
  const deleted: string[] = [];
  for (const { path, from, to } of changes) {
    if (to === undefined && (await attempt(path, () => remove(path, { from }, options)))) deleted.push(path);
  }
  const done = new Set<string>();
  const waiting = new Map<string, Writing[]>();
  for (const { path, from, to } of changes) {
    if (to === undefined) continue;
    if (from?.blobId === to.blobId && isLink(from) === isLink(to)) {
      if (await attempt(path, () => setMode(path, to, options))) done.add(path);
    } else waiting.set(to.blobId, [...(waiting.get(to.blobId) ?? []), { path, from, to }]);
  }
  await attempt("the other files", async () => {
    for await (const blobs of options.blobs) {
      for (const [blobId, bytes] of blobs) {
        for (const writing of waiting.get(blobId) ?? []) {
          const { path } = writing;
          if (await attempt(path, () => write(writing, bytes, options))) done.add(path);
        }
      }
    }
  });
  return { written: changes.map(({ path }) => path).filter((path) => done.has(path)), deleted, problems };
}

/** A file whose bytes are brought back. */
interface Writing {
  readonly path: string;
  readonly from: TreeFile | undefined;
  readonly to: TreeFile;
}

async function remove(
  path: string,
  { from }: Pick<TreeChange, "from">,
  { folder }: RestoreOptions,
): Promise<void> {
  if (!(await hasFolders(path, folder))) return;
  const current = await statOf(join(folder, path));
  if (current === undefined) return;
  if (current.isDirectory()) throw new Error("there is a folder in its place");
  await assertAsKept(join(folder, path), { kept: from, current });
  await unlink(join(folder, path));
  for (let parent = dirname(path); parent !== "."; parent = dirname(parent)) {
    try {
      await rmdir(join(folder, parent));
    } catch {
      // It holds something else.
      return;
    }
  }
}

async function setMode(path: string, to: TreeFile, { folder }: RestoreOptions): Promise<void> {
  if (!(await hasFolders(path, folder))) throw new Error("it is gone");
  const current = await statOf(join(folder, path));
  if (current?.isFile() !== true) throw new Error("it is no file any more");
  await chmod(join(folder, path), modeOf(to, current));
}

async function write(
  { path, from, to }: Writing,
  bytes: Uint8Array,
  { folder, newName }: RestoreOptions,
): Promise<void> {
  await makeFolders(path, folder);
  const target = join(folder, path);
  const current = await statOf(target);
  if (current?.isDirectory() === true) throw new Error("there is a folder in its place");
  await assertAsKept(target, { kept: from, current });
  const temporary = join(dirname(target), newName());
  try {
    if (isLink(to)) await symlink(Buffer.from(bytes), temporary);
    else await writeNew(temporary, bytes, { to, current });
    await rename(temporary, target);
  } catch (cause) {
    await rm(temporary, { force: true });
    throw cause;
  }
}

/** @throws Error when somebody has changed it since it was kept */
async function assertAsKept(path: string, state: Parameters<typeof isAsKept>[1]): Promise<void> {
  if (!(await isAsKept(path, state))) throw new Error("it was changed meanwhile");
}

async function writeNew(
  path: string,
  bytes: Uint8Array,
  { to, current }: { to: TreeFile; current: Stats | undefined },
): Promise<void> {
  const isRunnable = to.mode === "100755";
  const file = await open(path, "wx", isRunnable ? 0o777 : 0o666);
  try {
    await file.writeFile(bytes);
    if (current?.isFile() === true) await file.chmod(modeOf(to, current));
    await file.sync();
  } finally {
    await file.close();
  }
}

/** A snapshot knows only whether a file may be executed; who may read and write it stays as it is. */
function modeOf({ mode }: TreeFile, current: Stats): number {
  const rights = current.mode & 0o7777;
  if (mode !== "100755") return rights & ~EXECUTE_BITS;
  return (rights & EXECUTE_BITS) === 0 ? rights | ((rights & READ_BITS) >> 2) : rights;
}

/** Makes the folders of a file that are not there. */
async function makeFolders(path: string, folder: string): Promise<void> {
  for (const parent of parentsOf(path)) {
    const current = await statOf(join(folder, parent));
    if (current === undefined) await mkdir(join(folder, parent));
    else if (!current.isDirectory()) throw new Error(`${parent} is no folder`);
  }
}

/** Whether all folders of a file are there. */
async function hasFolders(path: string, folder: string): Promise<boolean> {
  for (const parent of parentsOf(path)) {
    if ((await statOf(join(folder, parent)))?.isDirectory() !== true) return false;
  }
  return true;
}

/** From the outermost in. */
function parentsOf(path: string): string[] {
  const names = path.split("/").slice(0, -1);
  return names.map((_, index) => names.slice(0, index + 1).join("/"));
}

function isLink({ mode }: TreeFile): boolean {
  return mode === LINK_MODE;
}

async function statOf(path: string): Promise<Stats | undefined> {
  try {
    return await lstat(path);
  } catch (cause) {
    const code = cause instanceof Error && "code" in cause ? cause.code : undefined;
    if (code === "ENOENT" || code === "ENOTDIR") return undefined;
    throw cause;
  }
}
