import { join } from "node:path";
import type { FileChangeEvent } from "@trivium/proto/crabcode-events";
import { unifiedDiff } from "../tools/file-diff.ts";
import type { RestoredFiles } from "./files/restore-files.ts";
import type { SnapshotRepository } from "./files/snapshot-repository.ts";
import type { TreeChange, TreeFile } from "./files/tree-change.ts";

const MAX_TEXT_BYTES = 256 * 1024;
/** Further changes are told without a diff. */
const MAX_DIFFS = 200;

/** The events that tell of restored files. Files that are no text, or large, come without a diff. */
export async function fileChangeEvents(
  changes: readonly TreeChange[],
  {
    folder,
    restored,
    repository,
  }: { folder: string; restored: RestoredFiles; repository: SnapshotRepository },
): Promise<FileChangeEvent[]> {
  const done = new Set([...restored.written, ...restored.deleted]);
  const told = changes.filter(({ path }) => done.has(path));
  const texts = await readTexts(repository, told.slice(0, MAX_DIFFS));
  return told.map(({ path, from, to }) => {
    const before = textOf(from, texts);
    const after = textOf(to, texts);
    const absolutePath = join(folder, path);
    return {
      type: "file_change",
      path: absolutePath,
      action: from === undefined ? "create" : to === undefined ? "delete" : "modify",
      diff: before === undefined || after === undefined ? null : unifiedDiff(absolutePath, before, after),
    };
  });
}

/** A file that is not there has no lines. */
function textOf(file: TreeFile | undefined, texts: ReadonlyMap<string, string>): string | undefined {
  return file === undefined ? "" : texts.get(file.blobId);
}

async function readTexts(
  repository: SnapshotRepository,
  changes: readonly TreeChange[],
): Promise<Map<string, string>> {
  const texts = new Map<string, string>();
  const blobIds = changes.flatMap(({ from, to }) => [from, to].flatMap((file) => file?.blobId ?? []));
  try {
    const sizes = await repository.sizesOf(blobIds);
    const small = new Map([...sizes].filter(([, size]) => size <= MAX_TEXT_BYTES));
    for await (const blobs of repository.read(small)) {
      for (const [blobId, bytes] of blobs) {
        const text = decode(bytes);
        if (text !== undefined) texts.set(blobId, text);
      }
    }
  } catch {
    // The files are back; that their differences cannot be shown is no reason to say otherwise.
  }
  return texts;
}

/** Undefined for what is no text. */
function decode(bytes: Uint8Array): string | undefined {
  if (bytes.includes(0)) return undefined;
  try {
    return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    return undefined;
  }
}
