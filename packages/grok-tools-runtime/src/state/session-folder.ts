import { createHash } from "node:crypto";
import { join } from "node:path";

/** Folder of a session below the data folder. Ids that are no plain file names are hashed. */
export function sessionFolder(dataDir: string, key: string): string {
  const isPlain = /^[A-Za-z0-9_-][A-Za-z0-9._-]{0,63}$/.test(key);
  const name = isPlain ? key : `h-${createHash("sha256").update(key).digest("hex").slice(0, 32)}`;
  return join(dataDir, "tools", "sessions", name);
}
