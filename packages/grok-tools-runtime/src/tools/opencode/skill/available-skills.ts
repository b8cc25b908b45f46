import { listSkills } from "../../../skills/skill-listing.ts";
import type { SkillRegistry } from "../../../skills/skill-registry.ts";
import { escapeXml } from "../../../xml-text.ts";

/** Stands for the list in a description, also in one of the caller's own. */
export const SKILLS_PLACEHOLDER = "{available_skills}";

/** The skills as a description names them. */
export function availableSkills(registry: Pick<SkillRegistry, "available" | "callName">): string {
  const listed = listSkills(registry.available, { callName: (skill) => registry.callName(skill) });
  const entries = listed.flatMap(({ skill, name, description }) => [
    "  <skill>",
    `    <name>${escapeXml(name)}</name>`,
    ...(description === "" ? [] : [`    <description>${escapeXml(description)}</description>`]),
    `    <location>${escapeXml(skill.path)}</location>`,
    "  </skill>",
  ]);
  return ["<available_skills>", ...entries, "</available_skills>"].join("\n");
}
