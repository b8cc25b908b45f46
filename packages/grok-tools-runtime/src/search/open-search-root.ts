import { constants } from "node:fs";
import { access, type FileHandle, open, realpath, stat } from "node:fs/promises";
import { notRegular } from "../files/open-file.ts";
import {
  assertHandleInsideRoots,
  assertPathInsideRoots,
  isInsideRoots,
  outsideRoots,
  type Roots,
} from "../files/path-jail.ts";
import type { SearchRoot } from "./search-query.ts";

/** A place to search that stays the same although its path may come to mean another. Dispose it after the search. */
export interface OpenSearchRoot extends SearchRoot, AsyncDisposable {}

const OPEN_FLAGS =
  constants.O_RDONLY | (constants.O_NONBLOCK ?? 0) | (constants.O_NOFOLLOW ?? 0) | (constants.O_NOCTTY ?? 0);

/**
 * Checks where a search may start. With roots the real file or folder is opened, checked and held, so that a link put in
 * its place meanwhile leads nowhere.
 *
 * @throws {@link TriviumError} `failedPrecondition` for what is neither a file nor a folder, `permissionDenied` outside
 * the roots; the file system's error.
 */
export async function openSearchRoot(path: string, roots: Roots): Promise<OpenSearchRoot> {
  await assertPathInsideRoots(path, roots);
  const stats = await stat(path);
  if (!stats.isFile() && !stats.isDirectory()) throw notRegular(path);
  if (roots === undefined) {
    const isFile = stats.isFile();
    return { path, openPath: path, isFile, roots, [Symbol.asyncDispose]: () => Promise.resolve() };
  }
  const real = await realpath(path);
  if (!isInsideRoots(real, roots)) throw outsideRoots(path);
  const handle = await open(real, OPEN_FLAGS);
  try {
    await assertHandleInsideRoots(handle, path, roots);
    const opened = await handle.stat();
    if (!opened.isFile() && !opened.isDirectory()) throw notRegular(path);
    return {
      path: real,
      openPath: await pathThrough(handle, real),
      isFile: opened.isFile(),
      roots,
      [Symbol.asyncDispose]: () => handle.close(),
    };
  } catch (cause) {
    await handle.close();
    throw cause;
  }
}

/** On Linux a path through the handle, which helper processes of the same user can follow too. */
async function pathThrough(handle: FileHandle, real: string): Promise<string> {
  const through = `/proc/${process.pid}/fd/${handle.fd}`;
  return await access(through).then(
    () => through,
    () => real,
  );
}
