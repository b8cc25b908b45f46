import { type Skill, skillScopes } from "./skill.ts";

/** What a name means. */
export type SkillMatch =
  | { readonly kind: "found"; readonly skill: Skill }
  | { readonly kind: "ambiguous"; readonly skills: readonly Skill[] }
  | { readonly kind: "missing" };

/** More skills than any model can be told about. */
export const MAX_SKILLS = 200;

/** The skills that are known, each document once. Of one scope and name the first counts. */
export class SkillRegistry {
  readonly #byPath = new Map<string, Skill>();
  /** Documents whose condition was met. */
  readonly #activated = new Set<string>();

  /** Takes skills in, or what has changed about them. Returns those that were not known before. */
  add(skills: Iterable<Skill>): Skill[] {
    const added: Skill[] = [];
    for (const skill of skills) {
      const isKnown = this.#byPath.has(skill.path);
      const rival = this.#all().find(({ qualifiedName }) => qualifiedName === skill.qualifiedName);
      if (rival !== undefined && rival.path !== skill.path) continue;
      if (!isKnown && this.#byPath.size >= MAX_SKILLS) continue;
      // A document reached by two ways keeps its first scope.
      if (isKnown && this.#byPath.get(skill.path)?.scope !== skill.scope) continue;
      this.#byPath.set(skill.path, skill);
      if (!isKnown) added.push(skill);
    }
    return added;
  }

  /** The skills a model may load now, the nearest scope first. */
  get available(): readonly Skill[] {
    const skills = this.#all().filter((skill) => this.isAvailable(skill));
    return skills.sort((one, other) => skillScopes.indexOf(one.scope) - skillScopes.indexOf(other.scope));
  }

  isAvailable(skill: Skill): boolean {
    return skill.isModelInvocable && (skill.condition === undefined || this.#activated.has(skill.path));
  }

  /** Some skill waits for a file that it is about. */
  get hasWaiting(): boolean {
    return this.#all().some(({ condition, path }) => condition !== undefined && !this.#activated.has(path));
  }

  /** A file or folder was used. Returns the skills that become available by that. */
  activate(path: string, isFolder: boolean): Skill[] {
    const met = this.#all().filter(
      (skill) => !this.#activated.has(skill.path) && skill.condition?.matches(path, isFolder) === true,
    );
    for (const skill of met) this.#activated.add(skill.path);
    return met.filter((skill) => skill.isModelInvocable);
  }

  /** Looks a name up among those that are available: `scope:name`, else the bare name. Case counts. */
  find(name: string): SkillMatch {
    const exact = this.available.find(({ qualifiedName }) => qualifiedName === name);
    if (exact !== undefined) return { kind: "found", skill: exact };
    const [first, ...others] = this.available.filter((skill) => skill.name === name);
    if (first === undefined) return { kind: "missing" };
    return others.length === 0
      ? { kind: "found", skill: first }
      : { kind: "ambiguous", skills: [first, ...others] };
  }

  /** The shortest name that means a skill. */
  callName(skill: Skill): string {
    return this.find(skill.name).kind === "ambiguous" ? skill.qualifiedName : skill.name;
  }

  #all(): Skill[] {
    return [...this.#byPath.values()];
  }
}
