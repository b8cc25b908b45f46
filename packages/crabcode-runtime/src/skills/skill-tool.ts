import { z } from "zod";
import type { SkillDocument, SkillPort } from "../ports/skill-port.ts";
import { defineTool, failed, type Tool } from "../tools/tool.ts";
import { withUserInput } from "./skill-text.ts";

const MAX_LISTED_CHARS = 8_000;
const MAX_LINE_CHARS = 300;

/** The tool that gives the model the text of one of these skills. */
export function skillTool(skills: readonly SkillDocument[], port: SkillPort): Tool {
  const byName = new Map(skills.map((skill) => [skill.name, skill]));
  return defineTool({
    name: "Skill",
    source: "skill",
    description: `Loads the instructions of a skill. Skills:\n${listing(skills)}`,
    input: z.object({
      skill_name: z.string().describe("Name of one of the skills."),
      user_input: z.string().optional().describe("What the skill is to be applied to."),
    }),
    isReadOnly: true,
    isConcurrencySafe: true,
    check: ({ skill_name }) =>
      byName.has(skill_name)
        ? undefined
        : `there is no skill ${skill_name}; there are: ${[...byName.keys()].join(", ")}`,
    async run({ skill_name, user_input }) {
      const skill = byName.get(skill_name);
      if (skill === undefined) return failed(`Error: there is no skill ${skill_name}`);
      const body = await port.load(skill);
      return {
        result: withUserInput(body, user_input),
        isError: false,
        display: `[Skill: ${skill.name}]`,
      };
    },
  });
}

function listing(skills: readonly SkillDocument[]): string {
  const lines = skills.map(({ name, description, whenToUse }) => {
    const use = whenToUse === undefined ? "" : ` (${whenToUse})`;
    return `- ${name}: ${description}${use}`.replaceAll(/\s+/g, " ").slice(0, MAX_LINE_CHARS).toWellFormed();
  });
  const text = lines.join("\n");
  return text.length <= MAX_LISTED_CHARS ? text : `${text.slice(0, MAX_LISTED_CHARS).toWellFormed()}\n[more]`;
}
