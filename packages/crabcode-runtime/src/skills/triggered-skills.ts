import type { Clock } from "@trivium/core";
import type { SkillDocument } from "../ports/skill-port.ts";
import { extractMentions, type Mentions } from "./extract-mentions.ts";
import { fitsAny, globSource, type PatternQuestion } from "./pattern-matcher.ts";

/**
 * The skills a message is about, in their order, each followed by those it names as its companions. `paths` are a
 * condition; they are the trigger too when there are no `pathPatterns`.
 *
 * @throws the reason of the signal
 */
export async function triggeredSkills(
  skills: readonly SkillDocument[],
  message: string,
  { cwd, clock, signal }: { cwd: string; clock: Clock; signal: AbortSignal },
): Promise<SkillDocument[]> {
  const mentions = withRelativePaths(extractMentions(message), cwd);
  const questions = skills.map((skill) => questionsOf(skill, mentions));
  const answers = await fitsAny(questions.flat(2), { clock, signal });
  let at = 0;
  const matched = skills.filter((skill, index) => {
    const [gate = false, path = false, bash = false, imports = false] = (questions[index] ?? []).map(
      (group) => group.map(() => answers[at++]).includes(true),
    );
    const isOpen = skill.paths.length === 0 || gate;
    return isOpen && (path || bash || imports || (gate && skill.pathPatterns.length === 0));
  });
  return withChains(matched, skills);
}

/** One group for each kind of pattern; a group fits when one of its questions does. */
function questionsOf(skill: SkillDocument, { paths, commands, imports }: Mentions): PatternQuestion[][] {
  const globs = (patterns: readonly string[]): PatternQuestion[] =>
    // A pattern without a folder is about the file wherever it lies.
    patterns.map((glob) => ({
      pattern: globSource(glob.includes("/") ? glob.replace(/^\.?\//, "") : `**/${glob}`),
      flags: "i",
      texts: paths,
    }));
  const expressions = (patterns: readonly string[], texts: readonly string[]): PatternQuestion[] =>
    patterns.map((pattern) => ({ pattern, flags: "", texts }));
  return [
    globs(skill.paths),
    globs(skill.pathPatterns),
    expressions(skill.bashPatterns, commands),
    expressions(skill.importPatterns, imports),
  ];
}

/** Patterns are written from the session's folder on; people write paths in other ways too. */
function withRelativePaths(mentions: Mentions, cwd: string): Mentions {
  const paths = mentions.paths.map((path) => {
    const plain = path.replaceAll("\\", "/").replace(/^(\.\/)+/, "");
    return plain.startsWith(`${cwd}/`) ? plain.slice(cwd.length + 1) : plain.replace(/^\//, "");
  });
  return { ...mentions, paths };
}

function withChains(matched: readonly SkillDocument[], all: readonly SkillDocument[]): SkillDocument[] {
  const byName = new Map(all.map((skill) => [skill.name, skill]));
  const chosen = new Set<SkillDocument>();
  const take = (skill: SkillDocument): void => {
    if (chosen.has(skill)) return;
    chosen.add(skill);
    for (const name of skill.chainTo) {
      const next = byName.get(name);
      if (next !== undefined) take(next);
    }
  };
  for (const skill of matched) take(skill);
  return [...chosen];
}
