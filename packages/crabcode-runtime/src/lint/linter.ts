/** One run of a linter. */
export interface LintJob {
  /** Where it runs: the folder of its configuration, else the one that is checked. Absolute. */
  readonly folder: string;
  /** Its configuration, absolute. Undefined: there is none. */
  readonly configFile: string | undefined;
  /** What to check: below the folder with a leading `./`, else absolute. Never looks like an option. */
  readonly paths: readonly string[];
}

/** What is known about one linter. */
export interface Linter {
  readonly name: string;
  /** Linters of one language stand in for each other. */
  readonly language: string;
  /** Endings of the files it checks, without the dot. */
  readonly extensions: readonly string[];
  readonly program: string;
  /** Folders of a project that may hold the program, relative. */
  readonly localFolders: readonly string[];
  /** Files whose presence says that the project uses it; the first that is found is its configuration. */
  readonly configFiles: readonly string[];
  /** A configuration file that reads like this says nothing about the files around it. */
  readonly emptyConfig?: RegExp;
  /** Files of several tools, and what the part of this one begins with. */
  readonly configSections: readonly { readonly file: string; readonly pattern: RegExp }[];
  /** It is of no use without a configuration. */
  readonly needsConfig: boolean;
  /**
   * It runs what the project says: configuration that is a program, plugins, build scripts. False only for linters that
   * read files of the project and start nothing of it.
   */
  readonly runsProjectCode: boolean;
  /** What it takes: files and folders, files only, or nothing, because it checks the whole project. */
  readonly takes: "paths" | "files" | "project";
  /** Where it writes what it found. */
  readonly output: "stdout" | "stderr";
  /** A line that begins one issue. */
  readonly issue: RegExp;
  /** Exit codes after which everything was checked. */
  isFinished(exitCode: number): boolean;
  args(job: LintJob): readonly string[];
}
