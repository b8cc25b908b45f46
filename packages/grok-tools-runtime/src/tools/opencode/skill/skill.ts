import { TriviumError } from "@trivium/core";
import { ErrorCode } from "@trivium/proto/grok-tools";
import { z } from "zod";
import { accessFailureOf } from "../../../files/access-failure.ts";
import { shorten } from "../../../shorten.ts";
import { type LoadedSkill, loadSkill } from "../../../skills/load-skill.ts";
import { sessionSkills } from "../../../skills/session-skills.ts";
import type { Skill } from "../../../skills/skill.ts";
import type { SkillMatch } from "../../../skills/skill-registry.ts";
import {
  defineTool,
  type LogicalFailure,
  type Tool,
  type ToolContext,
  type ToolResult,
} from "../../../tool.ts";
import { availableSkills, SKILLS_PLACEHOLDER } from "./available-skills.ts";
import { skillContent } from "./skill-content.ts";
import { skillOutput } from "./skill-output.ts";

/** OpenCode:skill: loads the instructions of a skill. */
export const skill: Tool = defineTool({
  id: "OpenCode:skill",
  kind: "skill",
  capabilities: { readOnly: false },
  description: `Loads a skill: instructions, and the names of files that come with them, for a kind of task.

Load one as soon as the task is what a skill is about, before anything else is done. Only the skills listed here, and those you are told about later, can be loaded.

${SKILLS_PLACEHOLDER}`,
  input: z.object({ name: z.string().describe("Name of the skill as it is listed.") }),
  output: skillOutput,
  // The document has a limit of its own.
  truncation: { builtInMaxOutput: Number.POSITIVE_INFINITY },
  async describeInSession(description, scope) {
    if (!description.includes(SKILLS_PLACEHOLDER)) return description;
    const skills = scope.resource(sessionSkills);
    await skills.ready();
    // A function: what is in a skill's description must not be taken for a replacement pattern.
    return description.replaceAll(SKILLS_PLACEHOLDER, () => availableSkills(skills.registry));
  },
  async run({ name }, context) {
    const skills = context.resource(sessionSkills);
    await skills.refresh();
    const match = skills.registry.find(name);
    if (match.kind !== "found") return refused(name, matchProblem(name, match, skills.registry.available));
    try {
      const loaded = await loadSkill(match.skill, context.workspaceRoots);
      context.touched({ access: "read", path: match.skill.path });
      return loadedResult(loaded);
    } catch (thrown) {
      return refused(name, loadProblem(thrown, match.skill, context));
    }
  },
});

interface Problem extends LogicalFailure {
  readonly text: string;
}

function matchProblem(
  given: string,
  match: Exclude<SkillMatch, { kind: "found" }>,
  available: readonly Skill[],
): Problem {
  const code = ErrorCode.INVALID_INPUT;
  const name = shorten(given);
  if (match.kind === "ambiguous") {
    const names = match.skills.map(({ qualifiedName }) => qualifiedName).join(", ");
    const text = `Error: several skills are named ${name}; say which one: ${names}.`;
    return { code, text, reason: "ambiguous", suggestion: `use one of: ${names}` };
  }
  const names = available.map((one) => one.name).join(", ") || "none";
  return {
    code,
    text: `Error: no skill is named ${name}; there are: ${names}.`,
    reason: "unknown_skill",
    suggestion: names === "none" ? "go on without a skill" : `use one of: ${names}`,
  };
}

/**
 * @throws the error itself when the call was cancelled.
 */
function loadProblem(thrown: unknown, { path }: Skill, { signal }: ToolContext<unknown>): Problem {
  const { code, reason } = accessFailureOf(thrown, signal);
  if (code === ErrorCode.FILE_NOT_FOUND) {
    return { code, filePath: path, text: `Error: the skill's document ${path} does not exist any more.` };
  }
  const why = TriviumError.isInstance(thrown) ? thrown.message : "it cannot be read";
  return {
    code,
    reason,
    filePath: path,
    text: `Error: the skill's document ${path} cannot be loaded: ${why}.`,
  };
}

function loadedResult(loaded: LoadedSkill): ToolResult {
  const message = skillContent(loaded);
  return {
    output: {
      type: "Skill",
      success: true,
      tool_result: `Loaded the skill ${loaded.skill.name}.`,
      skill_name: loaded.skill.name,
      skill_message: message,
      error: null,
    },
    promptText: message,
  };
}

function refused(name: string, { text, ...failure }: Problem): ToolResult {
  return {
    output: {
      type: "Skill",
      success: false,
      tool_result: text,
      skill_name: name,
      skill_message: null,
      error: text,
    },
    promptText: text,
    failure,
  };
}
