import { readdir, realpath, stat } from "node:fs/promises";
import { basename, dirname, extname, join } from "node:path";
import { readRange } from "../files/line-index.ts";
import { openFile } from "../files/open-file.ts";
import { isInsideRoots, type Roots } from "../files/path-jail.ts";
import { MAX_FRONTMATTER_BYTES } from "./frontmatter.ts";
import { PathCondition } from "./path-condition.ts";
import type { Skill } from "./skill.ts";
import { skillFieldsOf } from "./skill-fields.ts";
import type { SkillRoot } from "./skill-roots.ts";

/** Levels below `skills/` at which documents are looked for. */
const MAX_DEPTH = 5;
/** Folders of one place that are looked at. */
const MAX_FOLDERS = 1000;
/** The head, and as much of the text as a description is made of. */
const HEAD_BYTES = MAX_FRONTMATTER_BYTES + 2048;

/** What limits looking for skills. */
export interface FindSkillsOptions {
  /** Real paths have to be inside; undefined: no limit. */
  readonly roots: Roots;
  /** Further documents are not read. */
  readonly maxSkills: number;
}

/** All skills of a place, by path. What cannot be read is left out. */
export async function findSkills(root: SkillRoot, options: FindSkillsOptions): Promise<Skill[]> {
  const walk = new SkillWalk(options.roots);
  await walk.enter(join(root.folder, "skills"), 1);
  const documents = [
    ...walk.documents,
    ...(await commandFiles(join(root.folder, "commands"), options.roots)),
  ];
  const skills: Skill[] = [];
  for (const path of documents.slice(0, options.maxSkills)) {
    const skill = await readSkill(path, root, options.roots);
    if (skill !== undefined) skills.push(skill);
  }
  return skills;
}

/** The skill of one document; undefined when it cannot be read or has no name. */
export async function readSkill(path: string, root: SkillRoot, roots: Roots): Promise<Skill | undefined> {
  try {
    await using file = await openFile(path, roots);
    const head = await readRange(file, 0, Math.min(HEAD_BYTES, file.sizeBytes));
    const isFolder = basename(path) === "SKILL.md";
    const folder = dirname(path);
    // A character cut in half at the end is no loss.
    const fields = skillFieldsOf(
      head.toString("utf8"),
      isFolder ? basename(folder) : basename(path, extname(path)),
    );
    if (fields === undefined) return undefined;
    return {
      ...fields,
      scope: root.scope,
      qualifiedName: `${root.scope}:${fields.name}`,
      path,
      folder,
      layout: isFolder ? "folder" : "command",
      condition: PathCondition.of(fields.paths, root.base),
    };
  } catch {
    // Gone, not permitted, outside the roots: a skill that nobody can load is none.
    return undefined;
  }
}

/** Collects the documents below a folder in the order of their names. Links are followed, each folder once. */
class SkillWalk {
  readonly documents: string[] = [];
  readonly #roots: Roots;
  readonly #seen = new Set<string>();

  constructor(roots: Roots) {
    this.#roots = roots;
  }

  async enter(folder: string, depth: number): Promise<void> {
    const real = await realFolder(folder, this.#roots);
    if (real === undefined || this.#seen.has(real) || this.#seen.size >= MAX_FOLDERS) return;
    this.#seen.add(real);
    const names = await namesIn(real);
    if (names.includes("SKILL.md")) this.documents.push(join(real, "SKILL.md"));
    if (depth >= MAX_DEPTH) return;
    for (const name of names) await this.enter(join(real, name), depth + 1);
  }
}

async function commandFiles(folder: string, roots: Roots): Promise<string[]> {
  const real = await realFolder(folder, roots);
  if (real === undefined) return [];
  return (await namesIn(real)).filter((name) => name.endsWith(".md")).map((name) => join(real, name));
}

/** The real path of a folder that may be looked at. */
async function realFolder(path: string, roots: Roots): Promise<string | undefined> {
  try {
    const real = await realpath(path);
    return (await stat(real)).isDirectory() && isInsideRoots(real, roots) ? real : undefined;
  } catch {
    // Most places do not exist.
    return undefined;
  }
}

async function namesIn(folder: string): Promise<string[]> {
  return (await readdir(folder).catch((): string[] => [])).sort();
}
