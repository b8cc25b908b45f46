import { dirname } from "node:path";
import { type Clock, type IdSource, TriviumError } from "@trivium/core";
import { freeBytes } from "@trivium/core/node";
import type { ResourceDefinition } from "../../session-resource.ts";
import type { Roots } from "../path-jail.ts";
import { decodeFile, type TextEncoding } from "../text-encoding.ts";
import { CurrentFile, readCurrentFile } from "./current-file.ts";
import { parseEditableText } from "./editable-text.ts";
import { LeftoverSweep, temporaryNameOf } from "./leftover-sweep.ts";
import { PathLocks } from "./path-locks.ts";
import { type ChangedBytes, type LineEndings, lineEndingsOf, sha256Of } from "./splice.ts";
import { writeFileInPlaceOf } from "./write-file.ts";
import { WriteJournal } from "./write-journal.ts";

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

/**
 * How an edit ended. Disposing it gives the memory of both contents back: texts that were not looked at, and what a
 * decision holds of them, cannot be looked at any more. Without that the garbage collector does it in time.
 */
export interface EditOutcome<Result> extends Disposable {
  readonly result: Result;
  /** Undefined when nothing was to be written. */
  readonly receipt: EditReceipt | undefined;
  /** Undefined when nothing was to be written. For `context.touched`. */
  readonly content: EditedContent | undefined;
}

/** A written file as text, in its own encoding and without a byte order mark. */
export interface EditedContent {
  /** Null for a new file. */
  readonly before: string | null;
  readonly after: string;
}

/** Decodes when somebody asks: of most edits nobody wants to see the whole file. */
function decodedWhenAsked(
  bytesBefore: Uint8Array | undefined,
  bytesAfter: Uint8Array,
): { readonly content: EditedContent; readonly dispose: () => void } {
  let before: string | undefined;
  let after: string | undefined;
  let isDisposed = false;
  const decode = (bytes: Uint8Array): string => {
    if (isDisposed) throw new TypeError("the content of an edit is gone with its outcome");
    return decodeFile(bytes);
  };
  const content = {
    get before() {
      if (bytesBefore === undefined) return null;
      before ??= decode(bytesBefore);
      return before;
    },
    get after() {
      after ??= decode(bytesAfter);
      return after;
    },
  };
  const dispose = (): void => {
    isDisposed = true;
    freeBytes(bytesBefore);
    freeBytes(bytesAfter);
  };
  return { content, dispose };
}

/** How an {@link EditEngine} writes. */
export interface EditEngineOptions {
  readonly ids: IdSource;
  readonly clock: Clock;
  /** Flush each file to the disk before it takes the place of the old. */
  readonly isDurable: boolean;
  /** Shared by all engines of a process, so that their edits of one file follow each other. */
  readonly locks: PathLocks;
  /** Records what is written in place. Absent: a process that dies then leaves a mixture of both contents. */
  readonly journal?: WriteJournal | undefined;
}

/** One try, and one more when somebody else wrote in between. */
const MAX_ATTEMPTS = 2;

/**
 * Reads, changes and writes files without losing anybody's work. Every tool that edits uses it.
 *
 * Edits of one path follow each other. The content a decision was based on is compared, by hash, right before the
 * write. Readers see the old or the new content, never a part, except of a file that can only be written in place
 * ({@link writeFileInPlaceOf}).
 */
export class EditEngine {
  readonly #options: EditEngineOptions;
  readonly #leftovers: LeftoverSweep;

  constructor(options: EditEngineOptions) {
    this.#options = options;
    this.#leftovers = new LeftoverSweep(options.clock);
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
      if (write === undefined) {
        const dispose = (): void => freeBytes(current?.bytes);
        return { result, receipt: undefined, content: undefined, [Symbol.dispose]: dispose };
      }
      await this.#leftovers.visit(dirname(path));
      signal?.throwIfAborted();
      let receipt: EditReceipt | undefined;
      const written = await writeFileInPlaceOf({
        path,
        content: write.bytes,
        expected: current,
        roots,
        isDurable: this.#options.isDurable,
        temporaryName: temporaryNameOf(this.#options.ids),
        journal: this.#options.journal,
        whileWriting() {
          receipt = receiptOf(current, write);
        },
      });
      if (!written) continue;
      const { content, dispose } = decodedWhenAsked(current?.bytes, write.bytes);
      receipt ??= receiptOf(current, write);
      return { result, receipt, content, [Symbol.dispose]: dispose };
    }
    throw new TriviumError(
      "aborted",
      `${path} was changed by somebody else while it was edited; nothing was written`,
    );
  }
}

/** A receipt lists so many places; the last one covers the rest. */
const MAX_RECEIPT_SPANS = 10_000;

/** The proof of an edit of `current`, which is undefined for a new file. */
export function receiptOf(
  current: Pick<CurrentFile, "sha256"> | undefined,
  { bytes, spans }: NewContent,
): EditReceipt {
  const text = parseEditableText(bytes);
  // Before the other, which then costs only a part.
  const after_sha256 = current instanceof CurrentFile ? current.sha256OfNew(bytes, spans) : sha256Of(bytes);
  return {
    before_sha256: current?.sha256 ?? null,
    after_sha256,
    spans: boundedSpans(spans),
    line_ending: text === undefined ? "none" : lineEndingsOf(text),
    encoding: text?.encoding ?? "binary",
  };
}

function boundedSpans(spans: readonly ChangedBytes[]): readonly ChangedBytes[] {
  if (spans.length <= MAX_RECEIPT_SPANS) return spans;
  const kept = spans.slice(0, MAX_RECEIPT_SPANS - 1);
  const [first, last] = [spans[MAX_RECEIPT_SPANS - 1], spans.at(-1)];
  return first === undefined || last === undefined ? kept : [...kept, [first[0], last[1], last[2]]];
}

/** Locks of this process. Files are shared by all sessions, so the locks are too. */
export const processPathLocks: PathLocks = new PathLocks();

/**
 * The edit engine of a session, with the locks of the process.
 */
export const editEngine: ResourceDefinition<EditEngine> = {
  name: "edit engine",
  create: ({ dataDir, ids, clock }) => {
    const journal = new WriteJournal({ dataDir, ids });
    return new EditEngine({ ids, clock, isDurable: true, locks: processPathLocks, journal });
  },
};
