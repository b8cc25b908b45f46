import { cutToBytes } from "../cut-bytes.ts";
import type { Skill } from "./skill.ts";

/** A skill as a model is told about it. */
export interface ListedSkill {
  readonly skill: Skill;
  /** What it is called by. */
  readonly name: string;
  /** Empty when there is no room for descriptions, or none. */
  readonly description: string;
}

/** Half a percent of a usual context, at four bytes a token. */
export const LISTING_BYTES = 4000;
/** Description and occasion of one skill. */
const MAX_DESCRIPTION_BYTES = 400;
/** Shorter descriptions say nothing. */
const MIN_DESCRIPTION_BYTES = 20;

/** Describes skills within a budget: in full, else with shorter descriptions, else with their names only. */
export function listSkills(
  skills: readonly Skill[],
  { callName, maxBytes = LISTING_BYTES }: { callName: (skill: Skill) => string; maxBytes?: number },
): ListedSkill[] {
  const full = skills.map((skill) => ({ skill, name: callName(skill), description: describe(skill) }));
  const nameBytes = sum(full.map(({ name }) => Buffer.byteLength(name)));
  const cap = descriptionCap(
    full.map(({ description }) => Buffer.byteLength(description)),
    maxBytes - nameBytes,
  );
  return full.map((listed) => ({ ...listed, description: shorten(listed.description, cap) }));
}

function describe({ description, whenToUse }: Skill): string {
  const text = [description, ...(whenToUse === undefined ? [] : [whenToUse])]
    .filter((part) => part !== "")
    .join(" - ");
  return shorten(text.replace(/\s+/g, " "), MAX_DESCRIPTION_BYTES);
}

/** The longest length that all descriptions may have together; 0 when it would be of no use. */
function descriptionCap(lengths: readonly number[], maxBytes: number): number {
  if (sum(lengths) <= maxBytes) return Infinity;
  const ascending = lengths.toSorted((one, other) => one - other);
  let left = maxBytes;
  for (const [index, length] of ascending.entries()) {
    const share = Math.floor(left / (ascending.length - index));
    // Short descriptions leave their rest to the long ones.
    if (length > share) return share < MIN_DESCRIPTION_BYTES ? 0 : share;
    left -= length;
  }
  return Infinity;
}

function shorten(text: string, maxBytes: number): string {
  if (maxBytes === 0) return "";
  if (Buffer.byteLength(text) <= maxBytes) return text;
  const ellipsis = "…";
  return cutToBytes(text, maxBytes - Buffer.byteLength(ellipsis)) + ellipsis;
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((total, number) => total + number, 0);
}
