import { realpath } from "node:fs/promises";
import type { SkillDocument, SkillPort } from "@trivium/crabcode-runtime";
import { findSkills, loadSkill, MAX_SKILLS, type Skill } from "@trivium/grok-tools-runtime/internal";

interface FoundSkill {
  readonly skill: Skill;
  /** Undefined: its document may lie anywhere. */
  readonly roots: readonly string[] | undefined;
}

/** Skills of conversations, found and read by the loader of the tools runtime. */
export function createSkillFiles(): SkillPort {
  // Which file a document came from is nothing its reader has to know.
  const files = new WeakMap<SkillDocument, FoundSkill>();
  return {
    async find(places) {
      const documents = new Map<string, SkillDocument>();
      for (const { folder, inside } of places) {
        const roots = inside === undefined ? undefined : [await realpath(inside)];
        const root = { folder, scope: "user" as const, base: folder };
        for (const skill of await findSkills(root, { roots, maxSkills: MAX_SKILLS })) {
          if (skill.layout !== "folder" || !skill.isModelInvocable) continue;
          const { name, description, whenToUse, paths, triggers } = skill;
          const document = { name, description, whenToUse, paths, ...triggers };
          files.set(document, { skill, roots });
          // A name that comes again takes the place of the first.
          documents.delete(name);
          documents.set(name, document);
        }
      }
      return [...documents.values()].slice(-MAX_SKILLS);
    },
    async load(document) {
      const file = files.get(document);
      if (file === undefined) throw new Error(`${document.name} was found by somebody else`);
      return (await loadSkill(file.skill, file.roots)).body;
    },
  };
}
