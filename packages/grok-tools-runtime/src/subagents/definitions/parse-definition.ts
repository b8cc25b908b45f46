import { parse } from "yaml";
import { z } from "zod";
import { lenientBoolean, lenientInteger } from "../../input/lenient.ts";
import type { CapabilityMode } from "../subagents.ts";
import { toCapabilityMode } from "../tool-selection/capability-mode.ts";
import type { SubagentDefinition } from "./subagent-definition.ts";

/** A definition file that was read. */
export interface ParsedDefinition {
  readonly definition: SubagentDefinition;
  /** Keys that mean nothing here. */
  readonly ignoredKeys: readonly string[];
}

const names = z
  .union([z.string(), z.array(z.string())])
  .transform((value) =>
    (typeof value === "string" ? value.split(/,(?![^(]*\))/) : value)
      .map((name) => name.trim())
      .filter((name) => name !== ""),
  );

const frontmatter = z.object({
  name: z.string().regex(/^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$/),
  description: z.string().default(""),
  tools: names.optional(),
  disallowedTools: names.default([]),
  capabilityMode: z.string().transform(toMode).optional(),
  model: z.string().min(1).optional(),
  maxTurns: lenientInteger({ min: 1 }).optional(),
  isolation: z.enum(["none", "worktree"]).optional(),
  background: lenientBoolean().default(false),
  agentsMd: lenientBoolean().default(true),
  skills: names.default([]),
});

/** A typing error must not grant more than was meant. */
function toMode(text: string, context: z.RefinementCtx): CapabilityMode {
  const mode = toCapabilityMode(text);
  if (mode !== undefined) return mode;
  context.addIssue(`${text} is not one of: read-only, read-write, execute, all`);
  return z.NEVER;
}

/**
 * Reads a definition: Markdown with YAML frontmatter. The file's name without `.md` is its name when it gives none.
 * A text that says why when it cannot be used.
 */
export function parseDefinition(text: string, fileName: string): ParsedDefinition | string {
  const match = /^\uFEFF?---[ \t]*\r?\n([\s\S]*?)\r?\n?---[ \t]*(?:\r?\n|$)([\s\S]*)$/.exec(text);
  if (match === null) return "it does not begin with frontmatter between two lines `---`";
  const [, head = "", body = ""] = match;
  let raw: unknown;
  try {
    // No aliases: a few lines of them can grow without limit.
    raw = parse(head, { maxAliasCount: 0 }) ?? {};
  } catch (cause) {
    return `its frontmatter is not YAML: ${cause instanceof Error ? cause.message : String(cause)}`;
  }
  if (typeof raw !== "object" || raw === null || Array.isArray(raw)) return "its frontmatter is not a map";
  const parsed = frontmatter.safeParse({ name: fileName.replace(/\.md$/i, ""), ...raw });
  if (!parsed.success) {
    return parsed.error.issues.map(({ path, message }) => `${path.join(".")}: ${message}`).join("; ");
  }
  const { background, agentsMd, tools, capabilityMode, model, maxTurns, isolation, ...rest } = parsed.data;
  const known = new Set(Object.keys(frontmatter.shape));
  return {
    definition: {
      ...rest,
      body: body.trim(),
      tools: withoutSpawns(tools),
      spawnTypes: spawnTypesOf(tools),
      capabilityMode: capabilityMode ?? "all",
      // The parent's model goes by a word of its own.
      model: model === "inherit" ? undefined : model,
      maxTurns,
      isolation,
      isBackground: background,
      wantsInstructions: agentsMd,
    },
    ignoredKeys: Object.keys(raw).filter((key) => !known.has(key)),
  };
}

const SPAWN = /^(?:Agent|Task)\((.*)\)$/i;

/** `Agent(type)` stands for the tool that starts subagents. */
function withoutSpawns(tools: readonly string[] | undefined): readonly string[] | undefined {
  return tools?.map((name) => (SPAWN.test(name) ? "Task" : name));
}

/** The types of all `Agent(type, …)` entries; undefined when there are none. */
function spawnTypesOf(tools: readonly string[] = []): readonly string[] | undefined {
  const lists = tools.flatMap((name) => {
    const inner = SPAWN.exec(name)?.[1];
    return inner === undefined ? [] : [inner.split(",").map((type) => type.trim())];
  });
  return lists.length === 0 ? undefined : lists.flat().filter((type) => type !== "");
}
