import { join } from "node:path";
import { type IdSource, TriviumError } from "@trivium/core";
import type { FileChangeEvent } from "@trivium/proto/crabcode-events";
import type { ToolboxPort } from "../ports/toolbox-port.ts";
import { fileChangeEvents } from "./file-changes.ts";
import { type RestoredFiles, restoreFiles } from "./files/restore-files.ts";
import type { SnapshotOwner, Snapshots, TakenSnapshot } from "./files/snapshots.ts";
import type { TreeChange } from "./files/tree-change.ts";

/** What a revert would do to the files. */
export interface FilePlan {
  /** The files as they are now. */
  readonly present: TakenSnapshot;
  readonly changes: readonly TreeChange[];
  /** Undefined: the files stay as they are. */
  readonly toolbox: ToolboxPort | undefined;
  readonly written: readonly string[];
  readonly deleted: readonly string[];
  /** Sizes of the blobs that are to be written, in bytes. */
  readonly sizes: ReadonlyMap<string, number>;
  /** "" or why the files stay as they are. */
  readonly warning: string;
}

/** Restored files with the events that tell of them. */
export interface RestoredPlan extends RestoredFiles {
  readonly events: readonly FileChangeEvent[];
}

/** Whose files they are, and what tools work with them through. */
export interface FileOwner extends SnapshotOwner {
  readonly toolbox: () => Promise<ToolboxPort>;
}

const untouched = {
  changes: [],
  toolbox: undefined,
  written: [],
  deleted: [],
  sizes: new Map<string, number>(),
};

/**
 * Finds out what has to change for the files to be as they were kept, and keeps them as they are now. Changes nothing.
 *
 * @param request `snapshotId` undefined: the files are not wanted, or were not kept; `undoId` undefined: for a report only
 * @throws the reason of the signal
 */
export async function planFiles(
  owner: FileOwner,
  snapshots: Snapshots,
  request: { snapshotId: string | undefined; undoId: string | undefined; signal: AbortSignal },
): Promise<FilePlan> {
  const { snapshotId, undoId, signal } = request;
  const name = undoId === undefined ? {} : { checkpointId: undoId };
  let present: TakenSnapshot = { kind: "none", warning: "" };
  if (snapshotId === undefined) {
    if (undoId !== undefined) present = await snapshots.take(owner, name, signal);
    return { ...untouched, present, warning: "the checkpoint has no files" };
  }
  try {
    // In one go: what another session frees between two of these steps might be needed by the next.
    const plan = await snapshots.use(owner.cwd, async (repository) => {
      const also = await repository.filesOf(snapshotId, signal);
      // What was kept counts although it is ignored now: it is about to be overwritten.
      present = await snapshots.takeIn(repository, { owner, ...name, also }, signal);
      if (present.kind === "none") return { ...untouched, warning: present.warning };
      const changes = await repository.changes(present.snapshotId, snapshotId, signal);
      const wanted = changes.flatMap(({ from, to }) =>
        to === undefined || to.blobId === from?.blobId ? [] : [to.blobId],
      );
      return {
        changes,
        written: changes.filter(({ to }) => to !== undefined).map(({ path }) => path),
        deleted: changes.filter(({ to }) => to === undefined).map(({ path }) => path),
        sizes: await repository.sizesOf(wanted, signal),
        warning: "",
      };
    });
    return { ...plan, present, toolbox: present.kind === "none" ? undefined : await owner.toolbox() };
  } catch (cause) {
    signal.throwIfAborted();
    if (!TriviumError.isInstance(cause)) throw cause;
    return { ...untouched, present, warning: `the files stay as they are: ${cause.message}` };
  }
}

/** Carries a plan out, while no tool works with the files. Does not fail: what could not be done is told. */
export async function restorePlanned(
  { cwd: folder }: SnapshotOwner,
  { snapshots, ids }: { snapshots: Snapshots; ids: IdSource },
  { changes, sizes, toolbox }: FilePlan,
): Promise<RestoredPlan> {
  const nothing = { written: [], deleted: [], problems: [], events: [] };
  if (toolbox === undefined || changes.length === 0) return nothing;
  const paths = changes.map(({ path }) => join(folder, path));
  const newName = (): string => `.trivium-${ids.hex(8)}`;
  try {
    return await snapshots.use(folder, async (repository) => {
      const restored = await toolbox.exclusively(paths, () =>
        restoreFiles(changes, { folder, newName, blobs: repository.read(sizes) }),
      );
      return { ...restored, events: await fileChangeEvents(changes, { folder, restored, repository }) };
    });
  } catch (cause) {
    const why = cause instanceof Error ? cause.message : "they could not be changed";
    return { ...nothing, problems: [`the files: ${why}`] };
  }
}
