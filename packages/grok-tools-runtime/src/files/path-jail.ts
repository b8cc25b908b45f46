import type { Stats } from "node:fs";
import { type FileHandle, readlink, realpath, stat } from "node:fs/promises";
import { dirname, sep } from "node:path";
import { TriviumError } from "@trivium/core";
import { systemCodeOf } from "../file-error.ts";

/** Folders that paths must stay in, absolute and without symbolic links. Undefined: no limit. */
export type Roots = readonly string[] | undefined;

/** Whether a real path is one of the roots or below one. */
export function isInsideRoots(realPath: string, roots: Roots): boolean {
  if (roots === undefined) return true;
  return roots.some((root) => {
    const prefix = root.endsWith(sep) ? root : root + sep;
    return realPath === root || realPath.startsWith(prefix);
  });
}

/** The error for a path outside the roots; its kind `permissionDenied` has no other use in this folder. */
export function outsideRoots(path: string): TriviumError {
  return new TriviumError("permissionDenied", `${path} is outside the folders this session may use`);
}

/** Whether an error is that of {@link outsideRoots}. */
export function isOutsideRoots(thrown: unknown): boolean {
  return TriviumError.isInstance(thrown) && thrown.kind === "permissionDenied";
}

/**
 * Checks a path by its deepest existing ancestor. A quick answer before anything is opened; the check that counts is
 * {@link assertHandleInsideRoots}.
 *
 * @throws {@link TriviumError} `permissionDenied` outside the roots.
 */
export async function assertPathInsideRoots(path: string, roots: Roots): Promise<void> {
  if (roots === undefined) return;
  if (!isInsideRoots(await realAncestor(path), roots)) throw outsideRoots(path);
}

/**
 * Checks an open file or folder, so that a link swapped after the path was looked at cannot lead outside.
 *
 * @throws {@link TriviumError} `permissionDenied` outside the roots, or when the place cannot be told.
 */
export async function assertHandleInsideRoots(handle: FileHandle, path: string, roots: Roots): Promise<void> {
  if (roots === undefined) return;
  const opened = await pathOfHandle(handle, path);
  if (opened === undefined || !isInsideRoots(opened, roots)) throw outsideRoots(path);
}

/** The real path of what is open: from the kernel, or by comparing identity where it does not tell. */
async function pathOfHandle(handle: FileHandle, path: string): Promise<string | undefined> {
  const fromKernel = await readlink(`/proc/self/fd/${handle.fd}`).catch(() => undefined);
  if (fromKernel !== undefined) return fromKernel;
  const real = await realpath(path).catch(() => undefined);
  if (real === undefined) return undefined;
  const [named, opened] = await Promise.all([stat(real), handle.stat()]);
  return isSameFile(named, opened) ? real : undefined;
}

function isSameFile(one: Stats, other: Stats): boolean {
  return one.dev === other.dev && one.ino === other.ino;
}

async function realAncestor(path: string): Promise<string> {
  try {
    return await realpath(path);
  } catch (cause) {
    const parent = dirname(path);
    if (parent === path) throw cause;
    const code = systemCodeOf(cause);
    if (code === "ENOENT" || code === "ENOTDIR") return await realAncestor(parent);
    throw cause;
  }
}
