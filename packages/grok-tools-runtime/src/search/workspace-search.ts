import { resolve } from "node:path";
import type { Clock } from "@trivium/core";
import { toModelPath } from "../files/model-path.ts";
import type { Roots } from "../files/path-jail.ts";
import { toWorkspaceFailure, type WorkspaceResult } from "../files/workspace-result.ts";
import type { ProgramRunner } from "../process/program-runner.ts";
import { findFiles } from "./find-files.ts";
import { openSearchRoot } from "./open-search-root.ts";
import { searchContent } from "./search-content.ts";
import type { SearchScope } from "./search-query.ts";

/** What {@link WorkspaceSearch} works with. */
export interface WorkspaceSearchOptions {
  /** Relative paths start here. Absolute. */
  readonly workingDirectory: string;
  readonly homeDirectory: string | undefined;
  /** Folders that paths must stay in, as real paths; undefined: no limit. */
  readonly roots: Roots;
  readonly programRunner: ProgramRunner;
  readonly clock: Clock;
  /** Absolute path; undefined: the ripgrep of the package, else the one in the `PATH`. */
  readonly rgPath?: string | undefined;
  /** Variables of the server, of which ripgrep gets those it needs. */
  readonly environment: Readonly<Record<string, string | undefined>>;
  /** Git's ignore rules hide files. Default true. */
  readonly obeysGitIgnore?: boolean | undefined;
}

export interface SearchTextOptions {
  readonly pattern: string;
  readonly path?: string | undefined;
  readonly glob?: string | undefined;
  readonly ignoreCase: boolean;
  readonly maxMatchesPerFile: number;
  /** In all. Default 10 000. */
  readonly maxMatches?: number | undefined;
  readonly timeoutMs: number;
  readonly signal: AbortSignal;
}

export interface WorkspaceMatches {
  /** By path and line. Paths are absolute; long lines are cut. */
  readonly matches: readonly { readonly path: string; readonly line: number; readonly text: string }[];
  readonly isTruncated: boolean;
  readonly isTimedOut: boolean;
}

export interface FindFilesOptions {
  /** Glob on the path below `path`. */
  readonly pattern: string;
  readonly path?: string | undefined;
  readonly limit: number;
  readonly signal: AbortSignal;
  /** Default 30 000. */
  readonly timeoutMs?: number | undefined;
}

export interface WorkspacePaths {
  /** Absolute, newest first. */
  readonly paths: readonly string[];
  /** Further files that match. */
  readonly moreCount: number;
}

const DEFAULT_MAX_MATCHES = 10_000;
const DEFAULT_FIND_TIMEOUT_MS = 30_000;
const MAX_LINE_CHARS = 2000;

/** Searching for callers with texts of their own; the functions under the tools, with facts as results. */
export class WorkspaceSearch {
  readonly #options: WorkspaceSearchOptions;

  constructor(options: WorkspaceSearchOptions) {
    this.#options = options;
  }

  /** Finds lines that match a regular expression of ripgrep. Time-outs keep what was found. */
  async search(options: SearchTextOptions): Promise<WorkspaceResult<WorkspaceMatches>> {
    const { maxMatches = DEFAULT_MAX_MATCHES, timeoutMs, signal } = options;
    const { path } = toModelPath(options.path ?? "", this.#options);
    return await this.#guarded<WorkspaceMatches>(path, signal, async () => {
      await using root = await openSearchRoot(path, this.#options.roots);
      const { end, files } = await searchContent({
        query: { ...options, root, obeysGitIgnore: this.#options.obeysGitIgnore ?? true },
        scope: this.#scope(timeoutMs, signal),
        clock: this.#options.clock,
        maxListedLines: Infinity,
        maxMatches,
        maxLineChars: MAX_LINE_CHARS,
        hasContext: false,
      });
      if (end.isInvalid) return { kind: "failure", code: "invalid", message: end.stderr.trim() };
      if (files.length === 0 && end.exitCode === 2) {
        return { kind: "failure", code: "other", message: end.stderr.trim(), path };
      }
      const all = files.flatMap((file) =>
        file.lines.map(({ number, text }) => ({
          path: root.isFile ? path : resolve(path, file.path),
          line: number,
          text,
        })),
      );
      const { isTimedOut } = end;
      const isTruncated = end.isTruncated || isTimedOut || all.length > maxMatches;
      return { kind: "ok", matches: all.slice(0, maxMatches), isTruncated, isTimedOut };
    });
  }

  /** Finds files by name: hidden ones too, ignored ones not; `.git` and `node_modules` only when the pattern names them. */
  async findFiles(options: FindFilesOptions): Promise<WorkspaceResult<WorkspacePaths>> {
    const { pattern, limit, signal, timeoutMs = DEFAULT_FIND_TIMEOUT_MS } = options;
    const { path } = toModelPath(options.path ?? "", this.#options);
    return await this.#guarded<WorkspacePaths>(path, signal, async () => {
      await using root = await openSearchRoot(path, this.#options.roots);
      if (root.isFile)
        return { kind: "failure", code: "not-found", message: `${path} is not a directory`, path };
      const { paths, moreCount } = await findFiles({
        scope: this.#scope(timeoutMs, signal),
        folder: path,
        openPath: root.openPath,
        pattern,
        obeysGitIgnore: this.#options.obeysGitIgnore ?? true,
        maxPaths: limit,
      });
      return { kind: "ok", paths, moreCount };
    });
  }

  #scope(timeoutMs: number, signal: AbortSignal): SearchScope {
    const { programRunner, rgPath, environment } = this.#options;
    return { programRunner, rgPath, environment, timeoutMs, signal };
  }

  async #guarded<Value>(
    path: string,
    signal: AbortSignal,
    operation: () => Promise<WorkspaceResult<Value>>,
  ): Promise<WorkspaceResult<Value>> {
    try {
      return await operation();
    } catch (thrown) {
      return toWorkspaceFailure(thrown, path, signal);
    }
  }
}
