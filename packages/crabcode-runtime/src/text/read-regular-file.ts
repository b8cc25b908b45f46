import { closeSync, constants, fstatSync, openSync, readFileSync } from "node:fs";

/**
 * The text of a small file. Undefined when there is none at that path, when it is anything but a regular file (a
 * pipe would block the process), or when it is larger than `maxBytes`.
 *
 * @throws when the file exists and cannot be read
 */
export function readRegularFile(path: string, maxBytes: number): string | undefined {
  let file: number;
  try {
    file = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK);
  } catch (thrown) {
    const code = thrown instanceof Error && "code" in thrown ? thrown.code : undefined;
    if (code === "ENOENT" || code === "ENOTDIR") return undefined;
    throw thrown;
  }
  try {
    const stats = fstatSync(file);
    return stats.isFile() && stats.size <= maxBytes ? readFileSync(file, "utf8") : undefined;
  } finally {
    closeSync(file);
  }
}
