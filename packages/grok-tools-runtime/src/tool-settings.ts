/** Settings of the tools runtime, one per key under `tools.` in the server's settings. */
export interface ToolSettings {
  /** How a logical failure (file missing, no match) is answered unless the call says otherwise. */
  readonly logicalErrors: "error" | "output";
  /** Folders that file tools may touch. Undefined: no limit. Empty: only the session's folder. Absolute paths. */
  readonly workspaceRoots: readonly string[] | undefined;
  /** A named session without calls and background work is closed after this time. */
  readonly sessionIdleMinutes: number;
  /** Commands that run at once on this server. */
  readonly maxConcurrentCommands: number;
  /** Environment of commands. */
  readonly environment: EnvironmentPolicy;
  /** Start shells as login shells. */
  readonly loginShell: boolean;
  /** Wrapper around commands. */
  readonly sandbox: "bwrap" | undefined;
  /** The ripgrep program to use instead of the one that comes with the package. Absolute path. */
  readonly rgPath: string | undefined;
  /** Which tools obey git's ignore rules. */
  readonly respectGitignore: "upstream" | "off" | "all";
  /** Add suggestions to "does not exist" texts. */
  readonly pathHints: boolean;
}

/** Which variables a command inherits. Names in `exclude` and `includeOnly` are patterns with `*`. */
export interface EnvironmentPolicy {
  readonly inherit: "core" | "all" | "none";
  readonly exclude: readonly string[];
  readonly set: Readonly<Record<string, string>>;
  /** Empty: no further restriction. */
  readonly includeOnly: readonly string[];
  /** Also pass on names that look like secrets. */
  readonly ignoreDefaultExcludes: boolean;
}

/** What applies when the server's settings say nothing. */
export const defaultToolSettings: ToolSettings = {
  logicalErrors: "error",
  workspaceRoots: undefined,
  sessionIdleMinutes: 60,
  maxConcurrentCommands: 32,
  environment: { inherit: "core", exclude: [], set: {}, includeOnly: [], ignoreDefaultExcludes: false },
  loginShell: false,
  sandbox: undefined,
  rgPath: undefined,
  respectGitignore: "upstream",
  pathHints: true,
};
