/** A folder in which skills are looked for: `<folder>/skills/<name>/SKILL.md`. */
export interface SkillRoot {
  readonly folder: string;
  /** Documents have to lie inside, symbolic links resolved. Undefined: anywhere. */
  readonly inside: string | undefined;
}

/** Instructions for a kind of task, as the head of their document describes them. */
export interface SkillDocument {
  /** Letters `a-z`, digits and hyphens. */
  readonly name: string;
  readonly description: string;
  readonly whenToUse: string | undefined;
  /** Globs: only when such a file is mentioned it is triggered at all. */
  readonly paths: readonly string[];
  readonly pathPatterns: readonly string[];
  /** Regular expressions, as for the two others. */
  readonly bashPatterns: readonly string[];
  readonly importPatterns: readonly string[];
  /** Names of skills that come with it. */
  readonly chainTo: readonly string[];
}

/** Port for skills on the disk. */
export interface SkillPort {
  /** The skills of several places; of one name the one of the last place counts. What cannot be read is left out. */
  find(roots: readonly SkillRoot[]): Promise<readonly SkillDocument[]>;
  /**
   * The text of a skill that was found, as it is now, without its head.
   *
   * @throws Error when it cannot be read
   */
  load(skill: SkillDocument): Promise<string>;
}
