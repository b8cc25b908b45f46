import { readdir, readlink, realpath } from "node:fs/promises";
import { basename, dirname, join, resolve } from "node:path";
import { systemCodeOf } from "../file-error.ts";

/**
 * The file a path means, with symbolic links resolved.
 *
 * A missing name is looked up once more with no-break spaces counted as spaces, since screenshots of macOS have them
 * and models type a space. A link to nothing resolves to the file it would make. A path that cannot be resolved for
 * another reason stays as it is; opening it will say why.
 */
export async function resolveTarget(path: string): Promise<string> {
  try {
    return await realpath(path);
  } catch (cause) {
    if (systemCodeOf(cause) !== "ENOENT") return path;
  }
  const lookalike = await findLookalike(path);
  if (lookalike !== undefined) return await realpath(lookalike).catch(() => lookalike);
  return await resolveMissing(path, MAX_LINKS);
}

/** The file a path means, with symbolic links resolved; as {@link resolveTarget} without the second look. */
export async function resolveLinks(path: string): Promise<string> {
  return await realpath(path).catch(async (cause: unknown) =>
    systemCodeOf(cause) === "ENOENT" ? await resolveMissing(path, MAX_LINKS) : path,
  );
}

/** As many as Linux follows. */
const MAX_LINKS = 40;

async function findLookalike(path: string): Promise<string | undefined> {
  const folder = dirname(path);
  const wanted = withPlainSpaces(basename(path));
  // No folder, no lookalike.
  const names: string[] = await readdir(folder).catch(() => []);
  // The very name is there: a link to nothing.
  if (names.includes(basename(path))) return undefined;
  const found = names.filter((name) => withPlainSpaces(name) === wanted);
  return found.length === 1 && found[0] !== undefined ? join(folder, found[0]) : undefined;
}

function withPlainSpaces(name: string): string {
  return name.replace(/[\u202f\u00a0]/g, " ");
}

/** Resolves the folder of a file that does not exist yet, through links to nothing. */
async function resolveMissing(path: string, linksLeft: number): Promise<string> {
  const folder = dirname(path);
  if (folder === path || linksLeft === 0) return path;
  const target = await readlink(path).catch(() => undefined);
  if (target !== undefined) return await resolveMissing(resolve(folder, target), linksLeft - 1);
  const realFolder = await realpath(folder).catch(async (cause: unknown) =>
    systemCodeOf(cause) === "ENOENT" ? await resolveMissing(folder, linksLeft) : folder,
  );
  return join(realFolder, basename(path));
}
