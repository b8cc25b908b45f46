import { abortable, type Clock, type Logger } from "@trivium/core";
import type { SkillDocument, SkillPort } from "../ports/skill-port.ts";
import type { ChangingTools } from "../tools/session-tools.ts";
import type { Tool } from "../tools/tool.ts";
import { type SkillPlaces, skillRoots } from "./skill-roots.ts";
import { withMessage } from "./skill-text.ts";
import { skillTool } from "./skill-tool.ts";
import { triggeredSkills } from "./triggered-skills.ts";

/** Text of triggered skills in one message; what does not fit is named only. */
const MAX_TRIGGERED_CHARS = 64 * 1024;

/** What the skills of a session are made with. */
export interface SessionSkillsDeps extends SkillPlaces {
  readonly port: SkillPort;
  readonly clock: Clock;
  readonly logger: Logger;
}

/** The skills of a session, looked for before each run. The tool is there when there are any. */
export class SessionSkills implements ChangingTools {
  readonly #deps: SessionSkillsDeps;
  #skills: readonly SkillDocument[] = [];
  tools: readonly Tool[] = [];

  constructor(deps: SessionSkillsDeps) {
    this.#deps = deps;
  }

  async refresh(signal: AbortSignal): Promise<readonly Tool[]> {
    const { port, logger } = this.#deps;
    try {
      this.#skills = await abortable(port.find(skillRoots(this.#deps)), signal);
      this.tools = this.#skills.length === 0 ? [] : [skillTool(this.#skills, port)];
    } catch (cause) {
      if (!signal.aborted) logger.warn({ cause }, "skills could not be looked for");
    }
    return this.tools;
  }

  /** What the model is told with a message that skills are about; undefined for any other. */
  async reminderFor(message: string, signal: AbortSignal): Promise<string | undefined> {
    await this.refresh(signal);
    const skills = await this.#triggered(message, signal);
    const texts: string[] = [];
    let chars = 0;
    for (const skill of skills) {
      const text = await this.#textOf(skill, message);
      if (text === undefined) continue;
      const fits = chars + text.length <= MAX_TRIGGERED_CHARS;
      if (fits) chars += text.length;
      texts.push(fits ? text : nameOnly(skill));
    }
    if (texts.length === 0) return undefined;
    const intro = "Skills that fit this message. Follow them as far as they help with it.";
    return `<system-reminder>\n${intro}\n\n${texts.join("\n\n")}\n</system-reminder>`;
  }

  async #triggered(message: string, signal: AbortSignal): Promise<readonly SkillDocument[]> {
    const { cwd, clock } = this.#deps;
    try {
      return await triggeredSkills(this.#skills, message, { cwd, clock, signal });
    } catch (cause) {
      // An interrupted turn says so by itself.
      if (!signal.aborted) this.#deps.logger.warn({ cause }, "skills could not be matched");
      return [];
    }
  }

  async #textOf(skill: SkillDocument, message: string): Promise<string | undefined> {
    let body: string;
    try {
      body = await this.#deps.port.load(skill);
    } catch (cause) {
      this.#deps.logger.warn({ skill: skill.name, cause }, "a skill could not be read");
      return undefined;
    }
    try {
      return `# Skill ${skill.name}\n${withMessage(body, message)}`;
    } catch {
      // Applied to something shorter it may do.
      return nameOnly(skill);
    }
  }
}

function nameOnly({ name }: SkillDocument): string {
  return `# Skill ${name}\nLoad it with the tool Skill.`;
}
