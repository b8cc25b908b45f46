import { readdir } from "node:fs/promises";
import { join } from "node:path";
import { TriviumError } from "@trivium/core";
import { openFile } from "../files/open-file.ts";
import type { Roots } from "../files/path-jail.ts";
import { decodeFile } from "../files/text-encoding.ts";
import { splitFrontmatter } from "./frontmatter.ts";
import type { Skill } from "./skill.ts";

/** Larger documents are refused: nobody reads them, and a model would have to. */
export const MAX_SKILL_BYTES: number = 256 * 1024;
/** Companions that are named. */
const MAX_LISTED_FILES = 10;

/** A skill with what is in its document now. */
export interface LoadedSkill {
  readonly skill: Skill;
  /** The text below the head, trimmed. */
  readonly body: string;
  /** Files and folders beside the document, a sample. Absolute, by name. */
  readonly files: readonly string[];
}

/**
 * Reads a skill's document.
 *
 * @throws {@link TriviumError} `outOfRange` when it is too large, `permissionDenied` outside the roots; the file
 * system's error.
 */
export async function loadSkill(skill: Skill, roots: Roots): Promise<LoadedSkill> {
  await using file = await openFile(skill.path, roots);
  if (file.sizeBytes > MAX_SKILL_BYTES) {
    throw new TriviumError(
      "outOfRange",
      `${skill.path} has ${file.sizeBytes} bytes; skills up to ${MAX_SKILL_BYTES} bytes can be loaded`,
    );
  }
  const { body } = splitFrontmatter(decodeFile(await file.handle.readFile()));
  return { skill, body: body.trim(), files: await companionsOf(skill) };
}

async function companionsOf({ folder, layout }: Skill): Promise<string[]> {
  // What lies beside a command belongs to other commands.
  if (layout === "command") return [];
  const names = await readdir(folder).catch((): string[] => []);
  return names
    .filter((name) => name !== "SKILL.md")
    .sort()
    .slice(0, MAX_LISTED_FILES)
    .map((name) => join(folder, name));
}
