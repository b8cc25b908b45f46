import type { PathCondition } from "./path-condition.ts";

/** Where a skill comes from, the nearest first. */
export const skillScopes = ["local", "repo", "user", "server", "bundled", "plugin"] as const;

export type SkillScope = (typeof skillScopes)[number];

/** Instructions for a kind of task, kept in a document. */
export interface Skill extends SkillFields {
  readonly scope: SkillScope;
  /** `scope:name`. */
  readonly qualifiedName: string;
  /** The document. Absolute, without symbolic links. */
  readonly path: string;
  /** Folder of the document, to which its relative paths refer. */
  readonly folder: string;
  /** A folder of its own with `SKILL.md` and companions, or one file among others in `commands/`. */
  readonly layout: "folder" | "command";
  /** Present: the skill stays hidden until a file that meets the condition is used. */
  readonly condition: PathCondition | undefined;
}

/** What makes a skill fit a message without being called. */
export interface SkillTriggers {
  /** Globs for files that are mentioned. */
  readonly pathPatterns: readonly string[];
  /** Regular expressions for commands. */
  readonly bashPatterns: readonly string[];
  /** Regular expressions for lines that import something. */
  readonly importPatterns: readonly string[];
  /** Names of skills that come with it. */
  readonly chainTo: readonly string[];
}

/** What the head of a document says about its skill. */
export interface SkillFields {
  /** Letters `a-z`, digits and hyphens; at most 64. */
  readonly name: string;
  /** At most 1024 characters; may be empty. */
  readonly description: string;
  readonly whenToUse: string | undefined;
  /** Patterns in the manner of ignore files, as written. */
  readonly paths: readonly string[];
  /** Rules such as `Bash(git *)`. */
  readonly allowedTools: readonly string[];
  readonly argumentHint: string | undefined;
  readonly model: string | undefined;
  readonly effort: string | undefined;
  readonly license: string | undefined;
  readonly compatibility: string | undefined;
  readonly metadata: Readonly<Record<string, string>>;
  /** A person may call it by name. Default true. */
  readonly isUserInvocable: boolean;
  readonly triggers: SkillTriggers;
  /** A model may load it. Default true. */
  readonly isModelInvocable: boolean;
}
