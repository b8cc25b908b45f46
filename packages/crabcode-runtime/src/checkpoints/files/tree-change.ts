/** Mode of a symbolic link. */
export const LINK_MODE = "120000";

/** A file in a snapshot. */
export interface TreeFile {
  /** `100644`, `100755` for one that may be executed, `120000` for a symbolic link. */
  readonly mode: string;
  /** Id of its bytes; of a link, of the text it holds. */
  readonly blobId: string;
}

/** What differs between two snapshots at one path. */
export interface TreeChange {
  /** Relative to the folder, with `/`. */
  readonly path: string;
  /** Undefined: it is not there (yet). */
  readonly from: TreeFile | undefined;
  /** Undefined: it is not there (any more). */
  readonly to: TreeFile | undefined;
}

const FIELDS = /^:(\d{6}) (\d{6}) ([0-9a-f]+) ([0-9a-f]+) [A-Z]/;
const NOTHING = "000000";

/**
 * Reads the raw output of `git diff-tree -z`.
 *
 * @param items alternating: the fields of a change, its path
 */
export function parseChanges(items: readonly string[]): TreeChange[] {
  const changes: TreeChange[] = [];
  for (let at = 0; at + 1 < items.length; at += 2) {
    const [, fromMode = NOTHING, toMode = NOTHING, fromId = "", toId = ""] =
      FIELDS.exec(items[at] ?? "") ?? [];
    const path = items[at + 1] ?? "";
    changes.push({ path, from: fileOf(fromMode, fromId), to: fileOf(toMode, toId) });
  }
  return changes;
}

function fileOf(mode: string, blobId: string): TreeFile | undefined {
  return mode === NOTHING ? undefined : { mode, blobId };
}
