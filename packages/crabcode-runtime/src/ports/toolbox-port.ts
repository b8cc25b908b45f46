/** A failure the other side explains; the tool's own wording is made from it. */
export interface ToolboxFailure {
  readonly kind: "failure";
  /**
   * What happened, as far as a tool words it differently. `stale`: the file changed on disk since it was read.
   */
  readonly code:
    | "not-found"
    | "not-a-file"
    | "is-a-directory"
    | "binary"
    | "past-the-end"
    | "no-match"
    | "several-matches"
    | "stale"
    | "too-large"
    | "denied"
    | "invalid"
    | "unavailable"
    | "other";
  /** One sentence for a person or a model. */
  readonly message: string;
  /** How often `old_string` occurs; with `several-matches`. */
  readonly matchCount?: number;
  /** Lines of the file; with `past-the-end`. */
  readonly totalLines?: number;
  readonly path?: string;
}

/** A result, or why there is none. Nothing but a fault of the adapter is thrown. */
export type ToolboxResult<Value> = (Value & { readonly kind: "ok" }) | ToolboxFailure;

export interface TextRange {
  readonly absolutePath: string;
  /** The chosen lines as they are in the file, line ends included, without numbers. */
  readonly rawText: string;
  /** 1-based number of the first of them. */
  readonly firstLine: number;
  /** Lines of the whole file; a final newline starts no further line. */
  readonly totalLines: number;
  /** True when `maxLines` or `maxBytes` cut the text before the file, or the asked range, ended. */
  readonly isTruncated: boolean;
}

/** What a file was and is. */
export interface FileEdit {
  readonly absolutePath: string;
  readonly before: string;
  readonly after: string;
  /** Replaced places, 1-based lines of the file as it is after the edit. */
  readonly details: readonly { readonly firstLine: number; readonly lastLine: number }[];
}

export interface SearchMatch {
  /** Absolute. */
  readonly path: string;
  /** 1-based. */
  readonly line: number;
  readonly text: string;
}

export interface CommandResult {
  /** Head and tail when cut; the cut is marked in the text. */
  readonly stdout: string;
  readonly stderr: string;
  /** Null when a signal ended the command. */
  readonly exitCode: number | null;
  readonly signal: string | null;
  readonly isTimedOut: boolean;
  readonly isTruncated: boolean;
}

/** A piece of a running command's output. */
export interface CommandChunk {
  readonly stream: "stdout" | "stderr";
  readonly text: string;
}

/**
 * Port for files, search and commands of one session: one place where paths, locks, read tracking and processes
 * are kept, shared by the session's main loop and its agents.
 *
 * It carries facts, never texts for a model. Relative paths start at the session's folder. Every method ends
 * within a second of its signal's abort and has then stopped what it started.
 */
export interface ToolboxPort extends AsyncDisposable {
  /** The absolute path with symbolic links resolved as far as it exists. For the permission check; reads nothing. */
  resolvePath(path: string): Promise<string>;
  readText(request: {
    readonly path: string;
    /** 1-based; negative counts from the end; 0 is 1. */
    readonly offset?: number;
    readonly maxLines: number;
    readonly maxBytes: number;
    readonly signal: AbortSignal;
  }): Promise<ToolboxResult<TextRange>>;
  /** Replaces one exact match, or all. Refuses (`stale`) when the file was read before and differs now. */
  editText(request: {
    readonly path: string;
    readonly oldText: string;
    readonly newText: string;
    readonly replaceAll: boolean;
    readonly signal: AbortSignal;
  }): Promise<ToolboxResult<FileEdit>>;
  /** Writes a whole file, making its folders. `before` is null for a new file. */
  writeFile(request: {
    readonly path: string;
    readonly content: string;
    readonly signal: AbortSignal;
  }): Promise<ToolboxResult<{ readonly absolutePath: string; readonly before: string | null }>>;
  /** Regular-expression search, sorted by path and line. */
  search(request: {
    readonly pattern: string;
    readonly path?: string;
    readonly glob?: string;
    readonly ignoreCase: boolean;
    readonly maxMatchesPerFile: number;
    readonly timeoutMs: number;
    readonly signal: AbortSignal;
  }): Promise<
    ToolboxResult<{
      readonly matches: readonly SearchMatch[];
      readonly isTruncated: boolean;
      readonly isTimedOut: boolean;
    }>
  >;
  /** Files by name, newest first, absolute. `moreCount` is how many were left out. */
  findFiles(request: {
    readonly pattern: string;
    readonly path?: string;
    readonly limit: number;
    readonly signal: AbortSignal;
  }): Promise<ToolboxResult<{ readonly paths: readonly string[]; readonly moreCount: number }>>;
  /** Runs a job while no tool of any session writes these files. Absolute paths. */
  exclusively<Result>(paths: readonly string[], job: () => Promise<Result>): Promise<Result>;
  /** Runs one command in a fresh shell and ends its whole tree with it. */
  runCommand(request: {
    readonly command: string;
    /** Standard input; empty when absent. */
    readonly input?: string;
    /** Added to the minimal environment of children. */
    readonly environment: Readonly<Record<string, string>>;
    readonly timeoutMs: number;
    /** Characters kept of each of the two streams. */
    readonly maxOutputChars: number;
    readonly signal: AbortSignal;
    readonly onChunk?: (chunk: CommandChunk) => void;
  }): Promise<ToolboxResult<CommandResult>>;
}

/** Opens the toolbox of one session. Called when the session first runs a tool; disposed with the session. */
export type OpenToolbox = (session: {
  readonly sessionId: string;
  /** Absolute, symbolic links resolved. */
  readonly cwd: string;
  /** Folders beside `cwd` that the settings of the session opened. */
  readonly additionalDirectories: readonly string[];
}) => Promise<ToolboxPort>;
