import { lstat, readFile } from "node:fs/promises";
import { dirname, isAbsolute, join, sep } from "node:path";
import type { IgnoreFiles } from "./ignore-files.ts";
import { type IgnorePattern, matchesPattern } from "./ignore-pattern.ts";

/** Patterns and the folder they are relative to. */
interface RuleSet {
  /** Number of path segments of the folder. */
  readonly depth: number;
  readonly patterns: readonly IgnorePattern[];
}

/** Which sources of rules count. */
export interface RuleSources {
  /** `.gitignore`, `.git/info/exclude` and the user's excludes, inside a repository. */
  readonly git: boolean;
  /** `.ignore` files, everywhere. */
  readonly dotIgnore: boolean;
}

/** Ignore rules that apply to the entries of one folder. Strongest first: deeper files before shallower ones. */
export class FolderRules {
  readonly #files: IgnoreFiles;
  readonly #sources: RuleSources;
  readonly #segments: readonly string[];
  readonly #dotIgnore: readonly RuleSet[];
  /** Undefined outside a repository. */
  readonly #git: readonly RuleSet[] | undefined;

  private constructor(files: IgnoreFiles, sources: RuleSources, state: FolderRulesState) {
    this.#files = files;
    this.#sources = sources;
    this.#segments = state.segments;
    this.#dotIgnore = state.dotIgnore;
    this.#git = state.git;
  }

  /** Rules of a folder with those of the folders above it. */
  static async of(folder: string, files: IgnoreFiles, sources: RuleSources): Promise<FolderRules> {
    const parent = dirname(folder);
    const state: FolderRulesState =
      parent === folder
        ? { segments: [], dotIgnore: [], git: undefined }
        : (await FolderRules.of(parent, files, sources)).#state;
    return await FolderRules.#inside(folder, new FolderRules(files, sources, state));
  }

  /** Rules of a folder in this one. */
  async enter(folder: string): Promise<FolderRules> {
    return await FolderRules.#inside(folder, this);
  }

  static async #inside(folder: string, above: FolderRules): Promise<FolderRules> {
    const files = above.#files;
    const sources = above.#sources;
    const segments = toSegments(folder);
    const dotIgnore = sources.dotIgnore ? await files.patternsOf(join(folder, ".ignore")) : [];
    const state: FolderRulesState = {
      segments,
      dotIgnore: withRules(above.#dotIgnore, { depth: segments.length, patterns: dotIgnore }),
      git: sources.git ? await gitRules(folder, above, segments.length) : undefined,
    };
    return new FolderRules(files, sources, state);
  }

  /** Whether an entry of this folder is ignored, whatever is with the folder itself. */
  isIgnored(name: string, isFolder: boolean): boolean {
    const path = [...this.#segments, name];
    return verdictOf(this.#dotIgnore, path, isFolder) ?? verdictOf(this.#git ?? [], path, isFolder) ?? false;
  }

  get #state(): FolderRulesState {
    return { segments: this.#segments, dotIgnore: this.#dotIgnore, git: this.#git };
  }

  /** @internal For {@link gitRules}. */
  get gitRuleSets(): readonly RuleSet[] | undefined {
    return this.#git;
  }

  /** @internal For {@link gitRules}. */
  get files(): IgnoreFiles {
    return this.#files;
  }
}

interface FolderRulesState {
  readonly segments: readonly string[];
  readonly dotIgnore: readonly RuleSet[];
  readonly git: readonly RuleSet[] | undefined;
}

/** A folder with `.git` begins a repository of its own, to which rules from above do not apply. */
async function gitRules(
  folder: string,
  above: FolderRules,
  depth: number,
): Promise<readonly RuleSet[] | undefined> {
  const { files } = above;
  const excludes = await excludeFileOf(folder);
  const inherited =
    excludes === undefined
      ? above.gitRuleSets
      : [
          { depth, patterns: await files.patternsOf(excludes) },
          { depth, patterns: await files.globalPatterns() },
        ];
  if (inherited === undefined) return undefined;
  return withRules(inherited, { depth, patterns: await files.patternsOf(join(folder, ".gitignore")) });
}

/** `info/exclude` of the repository whose top folder this is; undefined when it is none. */
export async function excludeFileOf(folder: string): Promise<string | undefined> {
  const git = join(folder, ".git");
  const stats = await lstat(git).catch(() => undefined);
  if (stats === undefined) return undefined;
  if (!stats.isFile()) return join(git, "info", "exclude");
  // A work tree: `.git` names its folder, whose `commondir` names that of the repository.
  const gitFolder = within(
    folder,
    /^gitdir: (.*)$/m.exec(await readFile(git, "utf8").catch(() => ""))?.[1] ?? ".git",
  );
  const common = (await readFile(join(gitFolder, "commondir"), "utf8").catch(() => ".")).trim();
  return join(within(gitFolder, common), "info", "exclude");
}

function within(folder: string, path: string): string {
  return isAbsolute(path) ? path : join(folder, path);
}

function withRules(rules: readonly RuleSet[], added: RuleSet): readonly RuleSet[] {
  return added.patterns.length === 0 ? rules : [added, ...rules];
}

/** The last matching pattern of the strongest rule set with a match decides. */
function verdictOf(
  rules: readonly RuleSet[],
  path: readonly string[],
  isFolder: boolean,
): boolean | undefined {
  for (const { depth, patterns } of rules) {
    const below = path.slice(depth);
    const decisive = patterns.findLast((pattern) => matchesPattern(pattern, below, isFolder));
    if (decisive !== undefined) return !decisive.isNegated;
  }
  return undefined;
}

function toSegments(folder: string): string[] {
  return folder.split(sep).filter((segment) => segment !== "");
}
