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

/** Entries that change the rules of a folder. */
const ruleFiles = [".gitignore", ".ignore", ".git"];

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

  /**
   * Rules of a folder in this one. With the names of its entries at hand, files that are not among them are not looked
   * for.
   */
  async enter(folder: string, names?: ReadonlySet<string>): Promise<FolderRules> {
    if (names !== undefined && !ruleFiles.some((name) => names.has(name))) {
      return new FolderRules(this.#files, this.#sources, { ...this.#state, segments: toSegments(folder) });
    }
    return await FolderRules.#inside(folder, this);
  }

  static async #inside(folder: string, above: FolderRules): Promise<FolderRules> {
    const files = above.#files;
    const sources = above.#sources;
    const segments = toSegments(folder);
    const [dotIgnore, git] = await Promise.all([
      sources.dotIgnore ? files.patternsOf(join(folder, ".ignore")) : [],
      sources.git ? FolderRules.#gitRules(folder, above) : undefined,
    ]);
    const state: FolderRulesState = {
      segments,
      dotIgnore: withRules(above.#dotIgnore, { depth: segments.length, patterns: dotIgnore }),
      git,
    };
    return new FolderRules(files, sources, state);
  }

  /** A folder with `.git` begins a repository of its own, to which rules from above do not apply. */
  static async #gitRules(folder: string, above: FolderRules): Promise<readonly RuleSet[] | undefined> {
    const files = above.#files;
    const depth = toSegments(folder).length;
    const excludes = await excludeFileOf(folder);
    const inherited =
      excludes === undefined
        ? above.#git
        : [
            { depth, patterns: await files.patternsOf(excludes) },
            { depth, patterns: await files.globalPatterns() },
          ];
    if (inherited === undefined) return undefined;
    return withRules(inherited, { depth, patterns: await files.patternsOf(join(folder, ".gitignore")) });
  }

  /** Whether an entry of this folder is ignored, whatever is with the folder itself. */
  isIgnored(name: string, isFolder: boolean): boolean {
    const path = [...this.#segments, name];
    return verdictOf(this.#dotIgnore, path, isFolder) ?? verdictOf(this.#git ?? [], path, isFolder) ?? false;
  }

  get #state(): FolderRulesState {
    return { segments: this.#segments, dotIgnore: this.#dotIgnore, git: this.#git };
  }
}

interface FolderRulesState {
  readonly segments: readonly string[];
  readonly dotIgnore: readonly RuleSet[];
  readonly git: readonly RuleSet[] | undefined;
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
