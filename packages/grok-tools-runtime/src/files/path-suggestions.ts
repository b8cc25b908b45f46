import { access, readdir } from "node:fs/promises";
import { basename, dirname, join, parse, relative, sep } from "node:path";
import { type Clock, sleep } from "@trivium/core";
import type { ModelPath } from "./model-path.ts";
import { isInsideRoots, type Roots } from "./path-jail.ts";

/** What a "does not exist" text may look at. */
export interface MissingPathScope {
  readonly workingDirectory: string;
  readonly clock: Clock;
  readonly roots: Roots;
  /** False: only the first sentence. */
  readonly hints: boolean;
}

/** Looking for similar names may take so long. */
const PROBE_BUDGET_MS = 100;
const MAX_SUGGESTIONS = 3;
/** Shorter names are similar to everything. */
const MIN_LEAF_LENGTH = 2;
const MIN_STEM_LENGTH = 4;

/** The text for a path that names nothing, with similar names where there are any. */
export async function missingPathText(missing: ModelPath, scope: MissingPathScope): Promise<string> {
  const sentence = `Error: ${missing.display} does not exist.`;
  if (!scope.hints) return sentence;
  const suggestions = await withinBudget(findSuggestions(missing.path, scope), scope.clock);
  const hint = suggestions.length === 0 ? "" : ` Did you mean ${suggestions.join(" or ")}?`;
  return `${sentence}${hint} The working directory is ${scope.workingDirectory}.`;
}

async function withinBudget(search: Promise<readonly string[]>, clock: Clock): Promise<readonly string[]> {
  const budget = new AbortController();
  try {
    return await Promise.race([search, sleep(clock, PROBE_BUDGET_MS, budget.signal).then(() => [])]);
  } finally {
    budget.abort();
  }
}

async function findSuggestions(path: string, scope: MissingPathScope): Promise<readonly string[]> {
  const belowWorkingDirectory = await findBelowWorkingDirectory(path, scope);
  return belowWorkingDirectory === undefined ? await findSiblings(path, scope) : [belowWorkingDirectory];
}

/** Models drop the folder of the repository: `/w/src/a` for `/w/project/src/a`. */
async function findBelowWorkingDirectory(path: string, scope: MissingPathScope): Promise<string | undefined> {
  const parent = dirname(scope.workingDirectory);
  const rest = relative(parent, path);
  if (rest === "" || rest.startsWith("..") || path.startsWith(scope.workingDirectory + sep)) return undefined;
  const first = rest.split(sep)[0] ?? "";
  if (await exists(join(parent, first), scope)) return undefined;
  const candidate = join(scope.workingDirectory, rest);
  return (await exists(candidate, scope)) ? candidate : undefined;
}

async function findSiblings(path: string, scope: MissingPathScope): Promise<readonly string[]> {
  const folder = dirname(path);
  const leaf = stemOf(basename(path));
  if (leaf.length < MIN_LEAF_LENGTH || !isInsideRoots(folder, scope.roots)) return [];
  // No folder, no siblings.
  const names = await readdir(folder).catch(() => []);
  return names
    .filter((name) => isSimilar(stemOf(name), leaf))
    .sort()
    .slice(0, MAX_SUGGESTIONS)
    .map((name) => join(folder, name));
}

function isSimilar(stem: string, leaf: string): boolean {
  return stem.includes(leaf) || (stem.length >= MIN_STEM_LENGTH && leaf.includes(stem));
}

function stemOf(name: string): string {
  return parse(name).name.toLowerCase();
}

async function exists(path: string, { roots }: MissingPathScope): Promise<boolean> {
  if (!isInsideRoots(path, roots)) return false;
  return access(path).then(
    () => true,
    () => false,
  );
}
