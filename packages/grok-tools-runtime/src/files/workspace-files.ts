import { stat } from "node:fs/promises";
import { extensionOf, isBinaryContent, PROBE_BYTES } from "./content-kind.ts";
import type { CurrentFile } from "./edit-engine/current-file.ts";
import { editDetails } from "./edit-engine/edit-details.ts";
import type { EditDecision, EditEngine } from "./edit-engine/edit-engine.ts";
import { type ReplaceTextOutcome, replaceText } from "./edit-engine/replace-text.ts";
import { wholeContent } from "./edit-engine/whole-content.ts";
import type { FileReadTracker } from "./file-read-tracker.ts";
import { readRange } from "./line-index.ts";
import type { LineIndexCache } from "./line-index-cache.ts";
import { toModelPath } from "./model-path.ts";
import { openFile } from "./open-file.ts";
import type { Roots } from "./path-jail.ts";
import { readText } from "./read-text.ts";
import { resolveTarget } from "./resolve-target.ts";
import { decodeFile } from "./text-encoding.ts";
import { toWorkspaceFailure, type WorkspaceFailure, type WorkspaceResult } from "./workspace-result.ts";

/** What {@link WorkspaceFiles} works with. */
export interface WorkspaceFilesOptions {
  /** Relative paths start here. Absolute. */
  readonly workingDirectory: string;
  readonly homeDirectory: string | undefined;
  /** Folders that paths must stay in, as real paths; undefined: no limit. */
  readonly roots: Roots;
  readonly engine: EditEngine;
  /** Shared by all who edit in the session, so that they know what each has seen. */
  readonly tracker: FileReadTracker;
  readonly indexes: LineIndexCache;
}

/** Lines of a file. */
export interface WorkspaceText {
  readonly absolutePath: string;
  /** The lines as they are in the file. */
  readonly rawText: string;
  /** From 1. */
  readonly firstLine: number;
  /** Lines of the file; a final line feed begins no further line. Estimated for large files. */
  readonly totalLines: number;
  /** `maxLines` or `maxBytes` ended the text before the file ended. */
  readonly isTruncated: boolean;
}

/** What a file was and is. */
export interface WorkspaceEdit {
  readonly absolutePath: string;
  readonly before: string;
  readonly after: string;
  /** Replaced places, lines of the new text from 1. */
  readonly details: readonly { readonly firstLine: number; readonly lastLine: number }[];
}

export interface WorkspaceWrite {
  readonly absolutePath: string;
  /** Null for a new file. */
  readonly before: string | null;
}

export interface ReadTextOptions {
  readonly path: string;
  /** First line from 1, which 0 means too; negative counts from the last line. Default 1. */
  readonly offset?: number | undefined;
  readonly maxLines: number;
  readonly maxBytes: number;
  readonly signal: AbortSignal;
}

export interface EditTextOptions {
  readonly path: string;
  readonly oldText: string;
  readonly newText: string;
  readonly replaceAll: boolean;
  readonly signal: AbortSignal;
}

export interface WriteFileOptions {
  readonly path: string;
  readonly content: string;
  readonly signal: AbortSignal;
}

const MAX_DETAILS = 10_000;

/**
 * Reading and editing files for callers with texts of their own: the functions under the tools, with facts as results.
 * Edits of a file that was read and has changed since are refused.
 */
export class WorkspaceFiles {
  readonly #options: WorkspaceFilesOptions;

  constructor(options: WorkspaceFilesOptions) {
    this.#options = options;
  }

  /** The absolute path with symbolic links resolved as far as it exists. */
  async resolvePath(path: string): Promise<string> {
    return await resolveTarget(toModelPath(path, this.#options).path);
  }

  /** Reads lines of a text file. */
  async readText({
    path,
    offset = 1,
    maxLines,
    maxBytes,
    signal,
  }: ReadTextOptions): Promise<WorkspaceResult<WorkspaceText>> {
    const absolutePath = await this.resolvePath(path);
    const { roots, indexes, tracker } = this.#options;
    try {
      await using file = await openFile(absolutePath, roots);
      const probe = await readRange(file, 0, Math.min(PROBE_BYTES, file.sizeBytes));
      if (isBinaryContent(extensionOf(absolutePath), probe)) {
        return {
          kind: "failure",
          code: "binary",
          message: `${absolutePath} is a binary file`,
          path: absolutePath,
        };
      }
      const read = await readText(file, {
        path: absolutePath,
        indexes,
        signal,
        // The window counts the empty line behind a final line feed, callers here do not.
        offset: offset < 0 ? offset - 1 : offset,
        maxLines,
        maxBytes,
        cutsAtMaxBytes: true,
      });
      const { window, sha256 } = read;
      if (window.kind === "too-large") throw new TypeError("a window that may be cut is never too large");
      const totalLines = read.totalLines - (read.endsWithLineFeed ? 1 : 0);
      if (window.firstLine > Math.max(1, totalLines)) {
        const message = `line ${window.firstLine} is past the end, ${absolutePath} has ${totalLines} lines`;
        return { kind: "failure", code: "past-the-end", message, totalLines, path: absolutePath };
      }
      const lastLine = window.firstLine + window.lines.length - 1;
      tracker.record({ path: absolutePath, stats: file.stats, sha256, range: [window.firstLine, lastLine] });
      return {
        kind: "ok",
        absolutePath,
        rawText: window.rawText,
        firstLine: window.firstLine,
        totalLines,
        isTruncated: window.isCut || lastLine < totalLines,
      };
    } catch (thrown) {
      return toWorkspaceFailure(thrown, absolutePath, signal);
    }
  }

  /** Replaces the only occurrence of a text, or all. */
  async editText({
    path,
    oldText,
    newText,
    replaceAll,
    signal,
  }: EditTextOptions): Promise<WorkspaceResult<WorkspaceEdit>> {
    const absolutePath = await this.resolvePath(path);
    return await this.#edit<WorkspaceEdit>({ absolutePath, signal }, (current) => {
      if (current === undefined) {
        return refuse({ code: "not-found", message: `${absolutePath} does not exist` }, absolutePath);
      }
      const outcome = replaceText(current.bytes, { oldString: oldText, newString: newText, replaceAll });
      if (outcome.kind !== "replaced") return refuse(problemOf(outcome, absolutePath), absolutePath);
      const details = editDetails(outcome, MAX_DETAILS).map((detail) => ({
        firstLine: detail.new_line,
        lastLine: detail.new_line + (detail.new_string.split("\n").length - 1),
      }));
      const value = {
        absolutePath,
        before: decodeFile(current.bytes),
        after: decodeFile(outcome.bytes),
        details,
      };
      return { write: outcome, result: { kind: "ok", ...value } };
    });
  }

  /** Writes a whole file and makes its folders. An existing text keeps its encoding. */
  async writeFile({ path, content, signal }: WriteFileOptions): Promise<WorkspaceResult<WorkspaceWrite>> {
    const absolutePath = await this.resolvePath(path);
    return await this.#edit<WorkspaceWrite>({ absolutePath, signal }, (current) => {
      if (!content.isWellFormed()) {
        return refuse(
          { code: "invalid", message: "the content holds half of a surrogate pair" },
          absolutePath,
        );
      }
      const before = current === undefined ? null : decodeFile(current.bytes);
      return { write: wholeContent(current, content), result: { kind: "ok", absolutePath, before } };
    });
  }

  async #edit<Value>(
    { absolutePath, signal }: { readonly absolutePath: string; readonly signal: AbortSignal },
    decide: (current: CurrentFile | undefined) => EditDecision<WorkspaceResult<Value>>,
  ): Promise<WorkspaceResult<Value>> {
    const { engine, roots, tracker } = this.#options;
    try {
      using outcome = await engine.edit<WorkspaceResult<Value>>({
        path: absolutePath,
        roots,
        signal,
        decide: (current) => this.#staleness(absolutePath, current) ?? decide(current),
      });
      const { result, receipt } = outcome;
      // Gone again already: then there is nothing to compare later edits with.
      const stats = receipt === undefined ? undefined : await stat(absolutePath).catch(() => undefined);
      if (stats !== undefined) tracker.record({ path: absolutePath, stats, sha256: receipt?.after_sha256 });
      return result;
    } catch (thrown) {
      return toWorkspaceFailure(thrown, absolutePath, signal);
    }
  }

  #staleness(path: string, current: CurrentFile | undefined): EditDecision<WorkspaceFailure> | undefined {
    if (current === undefined) return undefined;
    const { stats, sha256 } = current;
    if (this.#options.tracker.stateOf({ path, stats, sha256 }) !== "changed") return undefined;
    return refuse({ code: "stale", message: `${path} was changed since it was read` }, path);
  }
}

type Problem = Omit<WorkspaceFailure, "kind" | "path">;

function refuse(problem: Problem, path: string): EditDecision<WorkspaceFailure> {
  return { write: undefined, result: { kind: "failure", ...problem, path } };
}

function problemOf(outcome: Exclude<ReplaceTextOutcome, { kind: "replaced" }>, path: string): Problem {
  switch (outcome.kind) {
    case "binary":
      return { code: "binary", message: `${path} is a binary file` };
    case "not-text":
      return { code: "invalid", message: "a given text holds half of a surrogate pair" };
    case "only-line-endings":
      return { code: "invalid", message: "the texts differ in line endings only, or not at all" };
    case "no-match":
      return { code: "no-match", message: `the text to replace is not in ${path}` };
    case "too-many-matches":
      return { code: "invalid", message: `the text to replace occurs too often in ${path}` };
    case "multiple-matches": {
      const { matchCount } = outcome;
      return {
        code: "several-matches",
        message: `the text to replace occurs ${matchCount} times in ${path}`,
        matchCount,
      };
    }
  }
}
