import type { Stats } from "node:fs";
import { dirname } from "node:path";
import { abortReason, TriviumError } from "@trivium/core";
import type { ResourceDefinition } from "../../session-resource.ts";
import type { Roots } from "../path-jail.ts";
import { type CurrentFile, readCurrentFile } from "./current-file.ts";
import { type EditEngineOptions, processPathLocks } from "./edit-engine.ts";
import { asideNameOf, LeftoverSweep, temporaryNameOf } from "./leftover-sweep.ts";
import { missingFolders } from "./made-folders.ts";
import { FileMovedAside } from "./move-aside.ts";
import { sha256Of } from "./splice.ts";
import { UndoLog, type UndoReport } from "./undo-log.ts";
import { writeFileInPlaceOf } from "./write-file.ts";
import { WriteJournal } from "./write-journal.ts";

/** A file as it was read, or why it could not be; `file` is undefined when there is none. */
export type ReadAttempt =
  | { readonly kind: "read"; readonly file: CurrentFile | undefined }
  | { readonly kind: "failed"; readonly cause: unknown };

/** What becomes of one file. Each path is written at most once. */
export type FileChange =
  | {
      readonly kind: "write";
      readonly path: string;
      readonly content: Uint8Array;
      /** Gives a new file this mode and owner. */
      readonly likeness?: Stats | undefined;
    }
  | {
      readonly kind: "remove";
      /** The file itself. */
      readonly path: string;
      /** The name that goes: `path`, or a symbolic link to it, whose target stays. */
      readonly name: string;
    };

/** A change that was made. */
export interface MadeChange {
  readonly change: FileChange;
  /** The file behind its path; undefined: there was none. */
  readonly before: CurrentFile | undefined;
}

/** Changes to make, in this order, and a result of the caller's own. No changes: nothing is written. */
export interface FileSetDecision<Result> {
  readonly changes: readonly FileChange[];
  readonly result: Result;
}

/** Files to edit as one. */
export interface FileSetRequest<Result> {
  /** Absolute, of the files themselves: symbolic links are resolved. */
  readonly paths: readonly string[];
  /** Further names that are removed: symbolic links to files of `paths`. */
  readonly names: readonly string[];
  readonly roots: Roots;
  readonly signal: AbortSignal;
  /**
   * Decides on the contents, by path. Called again when a file changes before the write, so it must not have effects
   * of its own.
   */
  decide(files: ReadonlyMap<string, ReadAttempt>): FileSetDecision<Result> | Promise<FileSetDecision<Result>>;
}

/** How an edit of several files ended. */
export type FileSetOutcome<Result> =
  | { readonly kind: "done"; readonly result: Result; readonly changes: readonly MadeChange[] }
  | FileSetFailure;

/** A change could not be made, so those before it were taken back. */
export interface FileSetFailure extends UndoReport {
  readonly kind: "failed";
  /** Where it failed. */
  readonly path: string;
  readonly cause: unknown;
}

/** One try, and one more when somebody else wrote in between. */
const MAX_ATTEMPTS = 2;
/** All old contents are held in memory, and the new ones besides. */
const MAX_TOTAL_BYTES = 256 * 1024 * 1024;

/**
 * Changes several files as one: all changes are made, or those that were made are taken back. Writes, removes and makes
 * files as {@link EditEngine} does, with the same locks.
 *
 * Each file changes in one step, the set does not: a reader may see a part of the changes, and so does everybody when
 * the process dies in the middle.
 */
export class FileSetEditor {
  readonly #options: EditEngineOptions;
  readonly #leftovers: LeftoverSweep;

  constructor(options: EditEngineOptions) {
    this.#options = options;
    this.#leftovers = new LeftoverSweep(options.clock);
  }

  /**
   * Edits a set of files.
   *
   * @throws the reason of `signal`, after changes that were made have been taken back, and what `decide` throws.
   */
  async edit<Result>(request: FileSetRequest<Result>): Promise<FileSetOutcome<Result>> {
    const { signal } = request;
    using _locks = await this.#lockAll([...request.paths, ...request.names], signal);
    let outcome: FileSetOutcome<Result>;
    let attempt = 0;
    do {
      attempt += 1;
      const files = await readAll(request);
      signal.throwIfAborted();
      const { changes, result } = await request.decide(files);
      signal.throwIfAborted();
      const steps = changes.map((change) => ({ change, before: contentOf(files.get(change.path)) }));
      const failure = await this.#commit(steps, request);
      outcome = failure ?? { kind: "done", result, changes: steps };
    } while (attempt < MAX_ATTEMPTS && outcome.kind === "failed" && isRetried(outcome));
    return outcome;
  }

  /** In the order of the paths, so that two sets never wait for each other. */
  async #lockAll(paths: readonly string[], signal: AbortSignal): Promise<Disposable> {
    using stack = new DisposableStack();
    for (const path of [...new Set(paths)].sort()) {
      stack.use(await this.#options.locks.acquire(path, signal));
    }
    return stack.move();
  }

  async #commit(
    steps: readonly MadeChange[],
    { roots, signal }: FileSetRequest<unknown>,
  ): Promise<FileSetFailure | undefined> {
    const { isDurable, ids, journal } = this.#options;
    const log = new UndoLog({ roots, isDurable, ids, journal });
    for (const { change, before } of steps) {
      try {
        signal.throwIfAborted();
        await this.#leftovers.visit(dirname(change.kind === "write" ? change.path : change.name));
        const isDone =
          change.kind === "write"
            ? await this.#write({ change, before, roots }, log)
            : await this.#remove({ change, before, roots }, log);
        if (!isDone) throw changedMeanwhile(change.path);
      } catch (cause) {
        const report = await log.undo();
        if (signal.aborted) throw abortReason(signal);
        return { kind: "failed", path: change.path, cause, ...report };
      }
    }
    await log.forget();
    return undefined;
  }

  async #write({ change, before, roots }: Step<"write">, log: UndoLog): Promise<boolean> {
    const { path, content, likeness } = change;
    if (before === undefined) log.addFolders(await missingFolders(path));
    const { isDurable, journal } = this.#options;
    const temporaryName = temporaryNameOf(this.#options.ids);
    const write = { path, content, expected: before, likeness, roots, isDurable, temporaryName, journal };
    if (!(await writeFileInPlaceOf(write))) return false;
    log.addWrite({ path, before, afterSha256: sha256Of(content) });
    return true;
  }

  async #remove({ change, before, roots }: Step<"remove">, log: UndoLog): Promise<boolean> {
    const { path, name } = change;
    if (before === undefined) throw new TypeError(`there is no ${path} to remove`);
    const temporaryName = asideNameOf(this.#options.ids);
    const aside = await FileMovedAside.move({ name, expected: before, roots, temporaryName });
    if (aside === undefined) return false;
    log.addRemoval(name, aside);
    return true;
  }
}

interface Step<Kind extends FileChange["kind"]> {
  readonly change: Extract<FileChange, { kind: Kind }>;
  readonly before: CurrentFile | undefined;
  readonly roots: Roots;
}

async function readAll({ paths, roots, signal }: FileSetRequest<unknown>): Promise<Map<string, ReadAttempt>> {
  const files = new Map<string, ReadAttempt>();
  let totalBytes = 0;
  for (const path of new Set(paths)) {
    signal.throwIfAborted();
    const attempt = await readCurrentFile(path, roots).then(
      (file): ReadAttempt => ({ kind: "read", file }),
      (cause: unknown): ReadAttempt => ({ kind: "failed", cause }),
    );
    totalBytes += contentOf(attempt)?.bytes.length ?? 0;
    files.set(path, totalBytes > MAX_TOTAL_BYTES ? { kind: "failed", cause: tooMuch(path) } : attempt);
  }
  return files;
}

function contentOf(attempt: ReadAttempt | undefined): CurrentFile | undefined {
  return attempt?.kind === "read" ? attempt.file : undefined;
}

function tooMuch(path: string): TriviumError {
  return new TriviumError(
    "outOfRange",
    `with ${path} the files have more than ${MAX_TOTAL_BYTES} bytes, which is more than can be edited at once`,
  );
}

function changedMeanwhile(path: string): TriviumError {
  return new TriviumError("aborted", `${path} was changed by somebody else while it was edited`);
}

function isRetried({ cause, notRestored }: FileSetFailure): boolean {
  return notRestored.length === 0 && TriviumError.isInstance(cause) && cause.kind === "aborted";
}

/** The editor for sets of files of a session, with the locks of the process. */
export const fileSetEditor: ResourceDefinition<FileSetEditor> = {
  name: "file set editor",
  create: ({ dataDir, ids, clock }) => {
    const journal = new WriteJournal({ dataDir, ids });
    return new FileSetEditor({ ids, clock, isDurable: true, locks: processPathLocks, journal });
  },
};
