import { mkdirSync, statSync } from "node:fs";
import { mkdir, stat } from "node:fs/promises";
import { dirname } from "node:path";

/**
 * Makes a folder and those above it that are missing. An existing one stays as it is.
 *
 * Not `mkdir` with `recursive`: where the system refuses to make an entry below an existing folder with ENOENT, as in
 * `/proc`, Node 26 tries for ever and cannot be interrupted.
 *
 * @throws the file system's error; ENOTDIR when something else is in the way
 */
export async function makeFolder(path: string, mode = 0o777): Promise<void> {
  try {
    await mkdir(path, { mode });
  } catch (thrown) {
    if (isExisting(thrown)) return assertFolder(path, (await stat(path)).isDirectory());
    if (!isMissingParent(thrown, path)) throw thrown;
    await makeFolder(dirname(path), mode);
    await mkdir(path, { mode }).catch((again: unknown) => {
      // Somebody else made it in the meantime.
      if (!isExisting(again)) throw again;
    });
  }
}

/** As {@link makeFolder}, for the start of a program. */
export function makeFolderSync(path: string, mode = 0o777): void {
  try {
    mkdirSync(path, { mode });
  } catch (thrown) {
    if (isExisting(thrown)) return assertFolder(path, statSync(path).isDirectory());
    if (!isMissingParent(thrown, path)) throw thrown;
    makeFolderSync(dirname(path), mode);
    mkdirSync(path, { mode });
  }
}

function assertFolder(path: string, isFolder: boolean): void {
  if (isFolder) return;
  throw Object.assign(new Error(`ENOTDIR: not a directory, mkdir '${path}'`), { code: "ENOTDIR", path });
}

function isExisting(thrown: unknown): boolean {
  return codeOf(thrown) === "EEXIST";
}

function isMissingParent(thrown: unknown, path: string): boolean {
  return codeOf(thrown) === "ENOENT" && dirname(path) !== path;
}

function codeOf(thrown: unknown): unknown {
  return thrown instanceof Error && "code" in thrown ? thrown.code : undefined;
}
