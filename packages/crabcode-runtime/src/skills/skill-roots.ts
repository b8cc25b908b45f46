import { dirname, join } from "node:path";
import { isInside } from "../paths/is-inside.ts";
import type { SkillRoot } from "../ports/skill-port.ts";
import { repositoryRoot } from "../prompt/repository-root.ts";

/** Where a session stands. */
export interface SkillPlaces {
  /** Absolute, symbolic links resolved. */
  readonly cwd: string;
  readonly homeFolder: string | undefined;
  /** The user's folder of settings. */
  readonly userFolder: string | undefined;
}

/**
 * The places to look at for skills, the strongest last: those of the user, then those of the folders from below home
 * down to `cwd`. Of a folder outside home they begin with its repository: above that others may write.
 */
export function skillRoots({ cwd, homeFolder, userFolder }: SkillPlaces): SkillRoot[] {
  const user = [
    ...(homeFolder === undefined ? [] : [join(homeFolder, ".claude")]),
    ...(userFolder === undefined ? [] : [userFolder]),
  ].map((folder): SkillRoot => ({ folder, inside: undefined }));
  const folders = foldersDownTo(cwd, homeFolder);
  const inside = folders[0] ?? cwd;
  const project = [".claude", ".crabcode"].flatMap((name) =>
    folders.map((folder): SkillRoot => ({ folder: join(folder, name), inside })),
  );
  return [...user, ...project];
}

function foldersDownTo(cwd: string, homeFolder: string | undefined): string[] {
  const isBelowHome = homeFolder !== undefined && isInside(homeFolder, cwd);
  const top = repositoryRoot(cwd) ?? cwd;
  const folders: string[] = [];
  for (let folder = cwd; ; folder = dirname(folder)) {
    if (isBelowHome && folder === homeFolder) break;
    folders.unshift(folder);
    if (dirname(folder) === folder || (!isBelowHome && folder === top)) break;
  }
  return folders;
}
