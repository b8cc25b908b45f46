import { type IdSource, TriviumError } from "@trivium/core";
import type { Roots } from "../path-jail.ts";
import type { TextEncoding } from "../text-encoding.ts";
import { type CurrentFile, readCurrentFile } from "./current-file.ts";
import { parseEditableText } from "./editable-text.ts";
import type { PathLocks } from "./path-locks.ts";
import { type ChangedBytes, type LineEndings, lineEndingsOf, sha256Of } from "./splice.ts";
import { writeFileInPlaceOf } from "./write-file.ts";

/** Proof of an edit: what the file was, what it is, and which bytes differ. */
export interface EditReceipt {
  /** Of the old content, hexadecimal; null for a new file. */
  readonly before_sha256: string | null;
  readonly after_sha256: string;
  /** Changed byte ranges of the old file, ascending, each with its end in the new one. */
  readonly spans: readonly ChangedBytes[];
  /** Line endings of the new content. */
  readonly line_ending: LineEndings;
  readonly encoding: TextEncoding | "binary";
}

/** New content of a file and where it differs from the old. */
export interface NewContent {
  readonly bytes: Uint8Array;
  readonly spans: readonly ChangedBytes[];
}

/** What a caller makes of the current content: something to write or nothing, and a result of its own. */
export interface EditDecision<Result> {
  /** Undefined: the file stays as it is. */
  readonly write: NewContent | undefined;
  readonly result: Result;
}

/** One file to edit. */
export interface EditRequest<Result> {
  /** Absolute, of the file itself: symbolic links are resolved ({@link resolveTarget}). */
  readonly path: string;
  readonly roots: Roots;
  readonly signal?: AbortSignal | undefined;
  /**
   * Decides on the content, which is undefined when there is no file. Called again when the file changes before the
   * write, so it must not have effects of its own.
   */
  decide(current: CurrentFile | undefined): EditDecision<Result> | Promise<EditDecision<Result>>;
}

/** How an edit ended. */
export interface EditOutcome<Result> {
  readonly result: Result;
  /** Undefined when nothing was to be written. */
  readonly receipt: EditReceipt | undefined;
}

/** How an {@link EditEngine} writes. */
export interface EditEngineOptions {
  readonly ids: IdSource;
  /** Flush each file to the disk before it takes the place of the old. */
  readonly isDurable: boolean;
  /** Shared by all engines of a process, so that their edits of one file follow each other. */
  readonly locks: PathLocks;
}

/** Beginning of the names of temporary files. */
export const TEMPORARY_PREFIX = ".trivium-";

/** One try, and one more when somebody else wrote in between. */
const MAX_ATTEMPTS = 2;

/**
 * Reads, changes and writes files without losing anybody's work. Every tool that edits uses it.
 *
 * Edits of one path follow each other. The content a decision was based on is compared, by hash, right before the
 * write; readers see the old or the new content, never a part.
 */
export class EditEngine {
  readonly #options: EditEngineOptions;

  constructor(options: EditEngineOptions) {
    this.#options = options;
  }

  /**
   * Edits one file.
   *
   * @throws {@link TriviumError} `aborted` when the file keeps changing, `failedPrecondition` when it is no regular
   * file, `outOfRange` when it is too large, `permissionDenied` outside the roots; the file system's error; the
   * reason of `signal`.
   */
  async edit<Result>(request: EditRequest<Result>): Promise<EditOutcome<Result>> {
    const { path, roots, signal } = request;
    using _lock = await this.#options.locks.acquire(path, signal);
    for (let attempt = 1; attempt <= MAX_ATTEMPTS; attempt += 1) {
      const current = await readCurrentFile(path, roots);
      signal?.throwIfAborted();
      const { write, result } = await request.decide(current);
      if (write === undefined) return { result, receipt: undefined };
      signal?.throwIfAborted();
      const written = await writeFileInPlaceOf({
        path,
        content: write.bytes,
        expected: current,
        roots,
        isDurable: this.#options.isDurable,
        temporaryName: `${TEMPORARY_PREFIX}${this.#options.ids.hex(8)}`,
      });
      if (written) return { result, receipt: receiptOf(current, write) };
    }
    throw new TriviumError(
      "aborted",
      `${path} was changed by somebody else while it was edited; nothing was written`,
    );
  }
}

function receiptOf(current: CurrentFile | undefined, { bytes, spans }: NewContent): EditReceipt {
  const text = parseEditableText(bytes);
  return {
    before_sha256: current?.sha256 ?? null,
    after_sha256: sha256Of(bytes),
    spans,
    line_ending: text === undefined ? "none" : lineEndingsOf(text),
    encoding: text?.encoding ?? "binary",
  };
}
