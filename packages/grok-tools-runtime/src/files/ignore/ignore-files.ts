import { readFile, stat } from "node:fs/promises";
import { homeGitExcludes, type IgnoreEnvironment } from "./global-excludes.ts";
import { type IgnorePattern, parseIgnorePattern } from "./ignore-pattern.ts";

/** Larger files are no ignore files. */
const MAX_IGNORE_BYTES = 1024 * 1024;
const MAX_CACHED_FILES = 2_000;

interface CachedFile {
  readonly version: string;
  readonly patterns: readonly IgnorePattern[];
}

/** Reads ignore files and keeps their patterns until the file changes. */
export class IgnoreFiles {
  readonly #environment: IgnoreEnvironment;
  readonly #cache = new Map<string, CachedFile>();

  constructor(environment: IgnoreEnvironment) {
    this.#environment = environment;
  }

  /** Patterns of a file; empty when there is none or it cannot be read. */
  async patternsOf(path: string): Promise<readonly IgnorePattern[]> {
    const version = await versionOf(path);
    if (version === undefined) {
      this.#cache.delete(path);
      return [];
    }
    const cached = this.#cache.get(path);
    if (cached?.version === version) return cached.patterns;
    // Gone or unreadable meanwhile: no rules.
    const text = await readFile(path, "utf8").catch(() => "");
    const patterns = text
      .split("\n")
      .map(parseIgnorePattern)
      .filter((pattern) => pattern !== undefined);
    if (this.#cache.size >= MAX_CACHED_FILES) this.#cache.clear();
    this.#cache.set(path, { version, patterns });
    return patterns;
  }

  /** Patterns the user has for all repositories. */
  async globalPatterns(): Promise<readonly IgnorePattern[]> {
    const path = await homeGitExcludes(this.#environment);
    return path === undefined ? [] : await this.patternsOf(path);
  }
}

async function versionOf(path: string): Promise<string | undefined> {
  const stats = await stat(path).catch(() => undefined);
  if (stats === undefined || !stats.isFile() || stats.size > MAX_IGNORE_BYTES) return undefined;
  return [stats.ino, stats.size, stats.mtimeMs, stats.ctimeMs].join(":");
}
