import { ErrorCode } from "@trivium/proto/grok-tools";
import { type EditReceipt, receiptOf } from "../../../files/edit-engine/edit-engine.ts";
import type { FileChange, ReadAttempt } from "../../../files/edit-engine/file-set-editor.ts";
import { wholeContent } from "../../../files/edit-engine/whole-content.ts";
import { FileOverlay, type OverlayFile } from "./file-overlay.ts";
import type { Fuzz } from "./line-seeker.ts";
import type { AddFile, UpdateFile } from "./patch.ts";
import { accessFailure, fileFailure, missingFile, type PatchFailure } from "./patch-failure.ts";
import type { PatchTarget, TargetedOperation } from "./patch-target.ts";
import { unlocatedFailure } from "./unlocated-failure.ts";
import { type UpdateOutcome, updateText } from "./update-text.ts";

/** What one operation does to its file. */
export interface PlannedFile {
  readonly action: "added" | "modified" | "deleted" | "moved";
  readonly target: PatchTarget;
  /** Of a move. */
  readonly destination?: PatchTarget | undefined;
  /** Undefined: there is no file before. */
  readonly before: Uint8Array | undefined;
  /** Undefined: there is no file after. */
  readonly after: Uint8Array | undefined;
  /** Of an update. */
  readonly fuzz?: Fuzz | undefined;
  readonly isAmbiguous?: boolean | undefined;
  /** Undefined for a deleted file. */
  readonly receipt?: EditReceipt | undefined;
}

/** A patch that can be written. */
export interface PlannedPatch {
  readonly kind: "planned";
  /** One for each operation. */
  readonly files: readonly PlannedFile[];
  /** What to write. */
  readonly changes: readonly FileChange[];
}

/** What a plan depends on besides the files. */
export interface PlanOptions {
  readonly allowOverwrite: boolean;
  /** Client name of the tool that reads files. */
  readonly readTool: string | undefined;
  readonly signal: AbortSignal;
}

/**
 * Computes all changes of a patch in memory, each operation on what those before it left. The first operation that
 * cannot be carried out decides: then nothing is to be written.
 *
 * @throws the reason of the signal.
 */
export async function planPatch(
  operations: readonly TargetedOperation[],
  files: ReadonlyMap<string, ReadAttempt>,
  options: PlanOptions,
): Promise<PlannedPatch | PatchFailure> {
  const plan = new Plan(new FileOverlay(files), options);
  for (const operation of operations) {
    const failure = await plan
      .add(operation)
      .catch((thrown: unknown) => accessFailure(thrown, plan.currentPath, options.signal));
    if (failure !== undefined) return failure;
  }
  return plan.finish();
}

class Plan {
  readonly #overlay: FileOverlay;
  readonly #options: PlanOptions;
  readonly #files: PlannedFile[] = [];
  /** The file that is looked at, as named. */
  currentPath = "";

  constructor(overlay: FileOverlay, options: PlanOptions) {
    this.#overlay = overlay;
    this.#options = options;
  }

  finish(): PlannedPatch {
    return { kind: "planned", files: this.#files, changes: this.#overlay.changes() };
  }

  async add({ operation, target, destination }: TargetedOperation): Promise<PatchFailure | undefined> {
    const current = this.#read(target);
    if (operation.kind === "add") return this.#addFile(operation, target, current);
    if (current === undefined) return missingFile(target.named);
    if (operation.kind === "update") return await this.#update(operation, { target, destination, current });
    this.#overlay.remove(target);
    this.#files.push({ action: "deleted", target, before: current.bytes, after: undefined });
    return undefined;
  }

  #read(target: PatchTarget): OverlayFile | undefined {
    this.currentPath = target.named;
    return this.#overlay.read(target);
  }

  #addFile(
    { content }: AddFile,
    target: PatchTarget,
    current: OverlayFile | undefined,
  ): PatchFailure | undefined {
    if (current !== undefined && !this.#options.allowOverwrite) return existingFile(target.named);
    if (this.#overlay.isRemovedLink(target)) return reusedLink(target.named);
    const whole = wholeContent(current, content);
    this.#overlay.write(target, whole.bytes, current?.stats);
    this.#files.push({
      action: current === undefined ? "added" : "modified",
      target,
      before: current?.bytes,
      after: whole.bytes,
      receipt: receiptOf(current, whole),
    });
    return undefined;
  }

  async #update(
    { chunks }: UpdateFile,
    { target, destination, current }: Updated,
  ): Promise<PatchFailure | undefined> {
    const { readTool, signal } = this.#options;
    const outcome = await updateText(current.bytes, chunks, signal);
    if (outcome.kind === "binary") return binaryFile(target.named);
    if (outcome.kind === "unlocated") {
      return unlocatedFailure(outcome, { named: target.named, bytes: current.bytes, readTool });
    }
    const isMove = destination !== undefined && destination.path !== target.path;
    const failure = isMove ? this.#move(destination, { target, current, outcome }) : undefined;
    if (failure !== undefined) return failure;
    if (!isMove) this.#overlay.write(target, outcome.bytes, current.stats);
    this.#files.push({
      action: isMove ? "moved" : "modified",
      target,
      destination: isMove ? destination : undefined,
      before: current.bytes,
      after: outcome.bytes,
      fuzz: outcome.fuzz,
      isAmbiguous: outcome.isAmbiguous,
      receipt: receiptOf(current, outcome),
    });
    return undefined;
  }

  #move(
    destination: PatchTarget,
    { target, current, outcome }: Updated & { readonly outcome: Updating },
  ): PatchFailure | undefined {
    if (this.#read(destination) !== undefined) return existingFile(destination.named);
    if (this.#overlay.isRemovedLink(destination)) return reusedLink(destination.named);
    // The file is never without a name.
    this.#overlay.write(destination, outcome.bytes, current.stats);
    this.#overlay.remove(target);
    return undefined;
  }
}

type Updating = Extract<UpdateOutcome, { kind: "updated" }>;

interface Updated {
  readonly target: PatchTarget;
  readonly destination?: PatchTarget | undefined;
  readonly current: OverlayFile;
}

function existingFile(named: string): PatchFailure {
  return fileFailure({
    filePath: named,
    code: ErrorCode.FILE_ALREADY_EXISTS,
    text: `${named} exists already and is not replaced`,
    suggestion: "choose another path, or update or delete the file that is there",
  });
}

function reusedLink(named: string): PatchFailure {
  return fileFailure({
    filePath: named,
    code: ErrorCode.INVALID_INPUT,
    text: `${named} is a symbolic link that the patch removes, so the name is free only after it; use a second patch`,
  });
}

function binaryFile(named: string): PatchFailure {
  return fileFailure({
    filePath: named,
    code: ErrorCode.INVALID_INPUT,
    text: `${named} is a binary file and cannot be patched`,
    reason: "binary",
  });
}
