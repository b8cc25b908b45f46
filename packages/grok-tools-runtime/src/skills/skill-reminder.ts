import type { Skill } from "./skill.ts";
import { listSkills } from "./skill-listing.ts";
import type { SkillRegistry } from "./skill-registry.ts";

/** Tells a model about skills that were found on the way, and how to load them. */
export function skillReminder(
  skills: readonly Skill[],
  registry: Pick<SkillRegistry, "callName">,
  { toolName }: { toolName: (kind: "skill" | "read") => string | undefined },
): string {
  const loader = toolName("skill");
  const reader = toolName("read");
  const how =
    loader !== undefined
      ? `Load one with ${loader} by its name when it fits the task.`
      : `Read its document${reader === undefined ? "" : ` with ${reader}`} when it fits the task.`;
  const lines = listSkills(skills, { callName: (skill) => registry.callName(skill) }).map(
    ({ skill, name, description }) => {
      const place = loader === undefined ? ` (${skill.path})` : "";
      return `- ${name}${description === "" ? "" : `: ${description}`}${place}`;
    },
  );
  // What a skill says of itself is somebody's text: a tag in it must not end the reminder.
  return [`Skills for this part of the project were found. ${how}`, ...lines]
    .join("\n")
    .replaceAll("</", "<\\/");
}
