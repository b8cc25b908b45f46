import { cutToBytes } from "../cut-bytes.ts";
import { parseFrontmatter, splitFrontmatter } from "./frontmatter.ts";
import type { SkillFields } from "./skill.ts";

const MAX_NAME_LENGTH = 64;
const MAX_DESCRIPTION_CHARS = 1024;
/** Part of the text that is looked at for a description. */
const MAX_BODY_BYTES = 2048;

/**
 * What the beginning of a document says about its skill. Each field is understood by itself, so that one that is wrong
 * does not cost the others. Undefined when there is nothing to make a name of.
 */
export function skillFieldsOf(document: string, fallbackName: string): SkillFields | undefined {
  const { frontmatter, body } = splitFrontmatter(document);
  const raw = frontmatter === undefined ? {} : parseFrontmatter(frontmatter);
  const name = toSlug(textOf(raw["name"]) ?? "") || toSlug(fallbackName);
  if (name === "") return undefined;
  return {
    name,
    description: cutText(textOf(raw["description"]) ?? firstWords(body), MAX_DESCRIPTION_CHARS),
    whenToUse: textOf(raw["when-to-use"] ?? raw["when_to_use"]),
    paths: listOf(raw["paths"], /[,\n]/),
    allowedTools: toolRulesOf(raw["allowed-tools"]),
    argumentHint: textOf(raw["argument-hint"]),
    model: textOf(raw["model"]),
    effort: textOf(raw["effort"]),
    license: textOf(raw["license"]),
    compatibility: textOf(raw["compatibility"]),
    metadata: metadataOf(raw["metadata"]),
    triggers: {
      pathPatterns: listOf(raw["pathPatterns"], /[,\n]/),
      bashPatterns: listOf(raw["bashPatterns"], /[,\n]/),
      importPatterns: listOf(raw["importPatterns"], /[,\n]/),
      chainTo: listOf(raw["chainTo"], /[,\n]/).map(toSlug),
    },
    isUserInvocable: booleanOf(raw["user-invocable"], true),
    isModelInvocable: !booleanOf(raw["disable-model-invocation"], false),
  };
}

/** A name as it is called: lower case, with hyphens for everything that is neither letter nor digit. */
export function toSlug(text: string): string {
  const slug = text.toLowerCase().replace(/[^a-z0-9]+/g, "-");
  return slug
    .slice(0, MAX_NAME_LENGTH + 1)
    .replace(/^-/, "")
    .slice(0, MAX_NAME_LENGTH)
    .replace(/-$/, "");
}

function textOf(value: unknown): string | undefined {
  if (typeof value === "number" || typeof value === "boolean") return String(value);
  if (typeof value !== "string") return undefined;
  const text = value.trim();
  return text === "" ? undefined : text;
}

function booleanOf(value: unknown, otherwise: boolean): boolean {
  const text = textOf(value)?.toLowerCase() ?? "";
  if (["true", "yes", "1"].includes(text)) return true;
  return ["false", "no", "0"].includes(text) ? false : otherwise;
}

function listOf(value: unknown, separator: RegExp): string[] {
  const items: unknown[] = Array.isArray(value) ? value : (textOf(value)?.split(separator) ?? []);
  return items.map(textOf).filter((item) => item !== undefined);
}

/** Commas and blanks separate rules, except inside parentheses: `Bash(git add *), Read`. */
function toolRulesOf(value: unknown): string[] {
  if (Array.isArray(value)) return listOf(value, /,/);
  return (textOf(value) ?? "").match(/(?:\([^)]*\)|[^\s,(])+/g) ?? [];
}

function metadataOf(value: unknown): Record<string, string> {
  if (typeof value !== "object" || value === null || Array.isArray(value)) return {};
  const entries = Object.entries(value).flatMap(([key, item]): [string, string][] => {
    const text = textOf(item);
    return text === undefined ? [] : [[key, text]];
  });
  return Object.fromEntries(entries);
}

/** The first heading or paragraph. */
function firstWords(body: string): string {
  const lines = cutToBytes(body, MAX_BODY_BYTES).trimStart().split(/\r?\n/);
  const [first = ""] = lines;
  if (first.startsWith("#")) return first.replace(/^#+\s*/, "").trim();
  const end = lines.findIndex((line) => line.trim() === "" || line.startsWith("#"));
  const paragraph = end === -1 ? lines : lines.slice(0, end);
  return paragraph
    .map((line) => line.trim())
    .join(" ")
    .trim();
}

function cutText(text: string, maxChars: number): string {
  return text.slice(0, maxChars).toWellFormed();
}
