import { basename, dirname, join, resolve } from "node:path";
import { resolveLinks } from "../../../files/resolve-target.ts";
import type { PatchOperation } from "./patch.ts";

/** A file that a patch names. */
export interface PatchTarget {
  /** As named, absolute. */
  readonly named: string;
  /** The file itself: symbolic links are resolved. */
  readonly path: string;
  /** The entry of its folder: differs from `path` when the file is named by a symbolic link. */
  readonly entry: string;
}

/** An operation whose paths are understood. */
export interface TargetedOperation {
  readonly operation: PatchOperation;
  readonly target: PatchTarget;
  /** Of a move. */
  readonly destination: PatchTarget | undefined;
}

/** Finds the files that an operation is about. Paths are joined with the working directory, nothing else. */
export async function targetOf(
  operation: PatchOperation,
  workingDirectory: string,
): Promise<TargetedOperation> {
  const moveTo = operation.kind === "update" ? operation.moveTo : undefined;
  return {
    operation,
    target: await toTarget(resolve(workingDirectory, operation.path)),
    destination: moveTo === undefined ? undefined : await toTarget(resolve(workingDirectory, moveTo)),
  };
}

async function toTarget(named: string): Promise<PatchTarget> {
  const path = await resolveLinks(named);
  return { named, path, entry: join(await resolveLinks(dirname(named)), basename(named)) };
}
