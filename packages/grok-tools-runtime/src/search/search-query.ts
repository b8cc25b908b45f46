import type { Roots } from "../files/path-jail.ts";
import type { ProgramRunner } from "../process/program-runner.ts";

/** What to search for and where. */
export interface SearchQuery {
  /** Regular expression in ripgrep's syntax. */
  readonly pattern: string;
  /** Existing file or folder, absolute. It is searched even when it is hidden or ignored itself. */
  readonly root: SearchRoot;
  /** Glob that paths below the root must match; with a slash it is tied to the root. */
  readonly glob?: string | undefined;
  /** The glob only narrows. Default: it also brings hidden and ignored files back that match it, as ripgrep has it. */
  readonly globNarrows?: boolean | undefined;
  /** Search hidden files too, but nothing of `.git`. Default false. */
  readonly includesHidden?: boolean | undefined;
  /** Name of one of ripgrep's file types. */
  readonly fileType?: string | undefined;
  readonly ignoreCase?: boolean | undefined;
  /** `.` matches line feeds and a match may span lines. */
  readonly multiline?: boolean | undefined;
  readonly linesBefore?: number | undefined;
  readonly linesAfter?: number | undefined;
  /** Git's ignore rules hide files. Those that `.ignore` files name are left out in any case. */
  readonly obeysGitIgnore: boolean;
  /** Per file; the rest of that file is not searched. */
  readonly maxMatchesPerFile?: number | undefined;
}

/** Where a search starts. See {@link openSearchRoot}. */
export interface SearchRoot {
  /** Absolute; with roots the real path. */
  readonly path: string;
  /** Leads to the same place even when somebody changes what `path` means. Equal to `path` without roots. */
  readonly openPath: string;
  readonly isFile: boolean;
  /** What is searched has to be inside; undefined: no limit. */
  readonly roots: Roots;
}

/** What a search needs to run. */
export interface SearchScope {
  readonly programRunner: ProgramRunner;
  /** Absolute path of ripgrep; undefined: the one of the package, else the one in the `PATH`. */
  readonly rgPath: string | undefined;
  /** Variables of the server; ripgrep gets those it needs. */
  readonly environment: Readonly<Record<string, string | undefined>>;
  readonly timeoutMs: number;
  readonly signal: AbortSignal;
}

/** How ripgrep fared, whatever it found. */
export interface SearchEnd {
  /** 0 matches, 1 none, 2 error; -1 when the time was up. */
  readonly exitCode: number;
  /** What ripgrep complained about, for example folders it could not read. */
  readonly stderr: string;
  /** The pattern, the glob or the file type is wrong; nothing was searched. */
  readonly isInvalid: boolean;
  readonly isTimedOut: boolean;
  /** A limit ended the search, so there may be more. */
  readonly isTruncated: boolean;
  /** `pcre2`: the pattern needed the other engine of ripgrep. `built-in`: there is no ripgrep. */
  readonly engine: "ripgrep" | "pcre2" | "built-in";
}
