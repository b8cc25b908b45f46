import type { CapabilityMode } from "../subagents.ts";

/** A kind of subagent: what it is told and what it may use. */
export interface SubagentDefinition {
  readonly name: string;
  /** One line: when to use it. */
  readonly description: string;
  /** Its part of the system prompt; a template like descriptions of tools. */
  readonly body: string;
  /** Names of the tools it gets; undefined: all. */
  readonly tools: readonly string[] | undefined;
  readonly disallowedTools: readonly string[];
  readonly capabilityMode: CapabilityMode;
  /** Types it may start itself; undefined: any. */
  readonly spawnTypes: readonly string[] | undefined;
  readonly model: string | undefined;
  readonly maxTurns: number | undefined;
  readonly isolation: "none" | "worktree" | undefined;
  /** It always runs in the background. */
  readonly isBackground: boolean;
  /** It is told the instructions of the project. */
  readonly wantsInstructions: boolean;
  /** Skills it is told to load first. */
  readonly skills: readonly string[];
}
