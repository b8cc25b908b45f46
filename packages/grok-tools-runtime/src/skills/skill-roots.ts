import { stat } from "node:fs/promises";
import { basename, dirname, join, relative, sep } from "node:path";
import type { SkillScope } from "./skill.ts";

/** Folders in which programs keep skills, the strongest first. */
const vendorFolders = [".grok", ".agents", ".claude", ".cursor"];
/** Those that belong to other programs. */
const compatFolders = [".claude", ".cursor"];

/** A folder with `skills/` and `commands/`. */
export interface SkillRoot {
  /** For example `/work/project/.grok`. */
  readonly folder: string;
  readonly scope: SkillScope;
  /** Folder that conditions on paths refer to. */
  readonly base: string;
}

/** Where a session stands. Absolute paths without symbolic links. */
export interface SkillPlaces {
  readonly directory: string;
  readonly homeDirectory: string | undefined;
  /** Top folder of the repository around `directory`. */
  readonly gitRoot: string | undefined;
  /** Further folders with `skills/` that the server's operator offers. */
  readonly serverFolders: readonly string[];
  /** Also look where other programs keep theirs. */
  readonly includesCompat: boolean;
}

/** The places to look at when a session begins, the nearest first. */
export function startingRoots(places: SkillPlaces): SkillRoot[] {
  const { directory, homeDirectory, gitRoot, serverFolders, includesCompat } = places;
  return [
    ...rootsIn(directory, "local", includesCompat),
    ...(gitRoot === undefined || gitRoot === directory ? [] : rootsIn(gitRoot, "repo", includesCompat)),
    ...(homeDirectory === undefined || homeDirectory === directory
      ? []
      : rootsIn(homeDirectory, "user", includesCompat).map((root) => ({ ...root, base: directory }))),
    ...serverFolders.map((folder): SkillRoot => ({ folder, scope: "server", base: directory })),
  ];
}

/** The places inside one folder. */
export function rootsIn(folder: string, scope: SkillScope, includesCompat: boolean): SkillRoot[] {
  return vendorFolders
    .filter((vendor) => includesCompat || !compatFolders.includes(vendor))
    .map((vendor) => ({ folder: join(folder, vendor), scope, base: folder }));
}

/**
 * The place a document belongs to by its path: `<place>/skills/…/SKILL.md` or `<place>/commands/x.md`. Undefined for
 * any other file.
 */
export function rootOfDocument(path: string, places: SkillPlaces): SkillRoot | undefined {
  const names = path.split(sep);
  const at = names.findLastIndex((name) => vendorFolders.includes(name));
  const [vendor = "", kind, ...rest] = names.slice(at);
  if (at <= 0 || (!places.includesCompat && compatFolders.includes(vendor))) return undefined;
  const isSkill = kind === "skills" && basename(path) === "SKILL.md";
  const isCommand = kind === "commands" && rest.length === 1 && path.endsWith(".md");
  if (!isSkill && !isCommand) return undefined;
  const base = names.slice(0, at).join(sep);
  const folder = join(base, vendor);
  if (base === places.homeDirectory && base !== places.directory) {
    return { folder, scope: "user", base: places.directory };
  }
  if (base === places.gitRoot && base !== places.directory) return { folder, scope: "repo", base };
  return isInside(base, places.gitRoot ?? places.directory) ? { folder, scope: "local", base } : undefined;
}

/**
 * The folders to look at for skills when `folder` was used: it and those above it, up to the session's folder or the
 * top of the repository, both left out. Nothing outside the repository (without one: outside the session's folder).
 */
export function foldersAbove(folder: string, { directory, gitRoot }: SkillPlaces): string[] {
  const top = gitRoot ?? directory;
  if (!isInside(folder, top)) return [];
  const folders: string[] = [];
  for (let at = folder; at !== directory && at !== top; at = dirname(at)) folders.push(at);
  return folders;
}

/** The folder with `.git` at or above a folder. */
export async function gitRootOf(folder: string): Promise<string | undefined> {
  const isTop = await stat(join(folder, ".git")).then(
    () => true,
    () => false,
  );
  if (isTop) return folder;
  const parent = dirname(folder);
  return parent === folder ? undefined : await gitRootOf(parent);
}

function isInside(path: string, folder: string): boolean {
  const rest = relative(folder, path);
  return rest !== ".." && !rest.startsWith(`..${sep}`);
}
