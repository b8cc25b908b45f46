import { createHash } from "node:crypto";
import { constants, type Stats } from "node:fs";
import { open, readlink } from "node:fs/promises";
import { LINK_MODE, type TreeFile } from "./tree-change.ts";

const SHA1_DIGITS = 40;

/**
 * Whether a file still has the bytes a snapshot has of it; a link what it names. Without both there is nothing to lose.
 *
 * @param current what lies at the path now; undefined: nothing
 */
export async function isAsKept(
  path: string,
  { kept, current }: { kept: TreeFile | undefined; current: Stats | undefined },
): Promise<boolean> {
  if (kept === undefined || current === undefined) return kept === undefined && current === undefined;
  if (kept.mode === LINK_MODE) {
    if (!current.isSymbolicLink()) return false;
    const target = await readlink(path, { encoding: "buffer" });
    return blobHash(kept, target.length).update(target).digest("hex") === kept.blobId;
  }
  if (!current.isFile()) return false;
  // What has become a link or a pipe meanwhile is neither followed nor waited for.
  await using file = await open(path, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
  const { size } = await file.stat();
  const hash = blobHash(kept, size);
  for await (const chunk of file.createReadStream({ autoClose: false })) hash.update(chunk);
  return hash.digest("hex") === kept.blobId;
}

/** Begins the id that git gives to a blob. */
function blobHash({ blobId }: TreeFile, sizeBytes: number): ReturnType<typeof createHash> {
  const algorithm = blobId.length === SHA1_DIGITS ? "sha1" : "sha256";
  return createHash(algorithm).update(`blob ${sizeBytes}\0`);
}
