import { dirname, isAbsolute, join, resolve } from "node:path";
import { readRegularFile } from "../text/read-regular-file.ts";

const MAX_HEAD_BYTES = 4096;
const BRANCH = "ref: refs/heads/";

/** The branch that is checked out in a folder. Undefined outside repositories, and on no branch. */
export function readBranch(folder: string): string | undefined {
  try {
    for (let at = folder; ; at = dirname(at)) {
      const head = readHead(join(at, ".git"));
      if (head !== undefined) return nameIn(head);
      if (at === dirname(at)) return undefined;
    }
  } catch {
    // What cannot be read is nothing a session needs.
    return undefined;
  }
}

/** Of the first line: what follows it is no part of a name. */
function nameIn(head: string): string | undefined {
  const [line = ""] = head.split(/\p{Cc}/u);
  return line.startsWith(BRANCH) ? line.slice(BRANCH.length).trim() : undefined;
}

/** A work tree beside its repository has a file that names the folder. */
function readHead(git: string): string | undefined {
  const link = readRegularFile(git, MAX_HEAD_BYTES)?.match(/^gitdir: (.+)$/m)?.[1];
  if (link === undefined) return readRegularFile(join(git, "HEAD"), MAX_HEAD_BYTES);
  return readRegularFile(join(isAbsolute(link) ? link : resolve(dirname(git), link), "HEAD"), MAX_HEAD_BYTES);
}
