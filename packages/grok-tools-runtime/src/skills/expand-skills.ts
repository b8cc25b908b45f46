import { escapeXml } from "../xml-text.ts";
import type { LoadedSkill } from "./load-skill.ts";

/** Skills as part of a message to a model: one stands alone, several are put together with a list of their names. */
export function expandSkills(skills: readonly LoadedSkill[]): string {
  const blocks = skills.map(({ skill, body }) => {
    const { name, description, path } = skill;
    const attributes = `name="${escapeXml(name)}" description="${escapeXml(description)}" path="${escapeXml(path)}"`;
    return `<skill ${attributes}>\n${body}\n</skill>`;
  });
  if (blocks.length <= 1) return blocks.join("");
  const names = skills.map(({ skill }) => escapeXml(skill.name)).join(", ");
  return [
    "<skill_information>",
    `<skills_referenced>${names}</skills_referenced>`,
    ...blocks,
    "</skill_information>",
  ].join("\n");
}
