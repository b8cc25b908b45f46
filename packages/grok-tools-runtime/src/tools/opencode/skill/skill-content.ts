import type { LoadedSkill } from "../../../skills/load-skill.ts";
import { escapeXml } from "../../../xml-text.ts";

/** A loaded skill as the model reads it. */
export function skillContent({ skill, body, files }: LoadedSkill): string {
  return [
    `<skill_content name="${escapeXml(skill.name)}">`,
    `# Skill: ${skill.name}`,
    "",
    body,
    "",
    `Base directory of this skill: file://${skill.folder}`,
    "Relative paths in it (scripts, references) start there. The list of files is a sample.",
    "",
    "<skill_files>",
    ...files.map((file) => `<file>${escapeXml(file)}</file>`),
    "</skill_files>",
    "</skill_content>",
  ].join("\n");
}
