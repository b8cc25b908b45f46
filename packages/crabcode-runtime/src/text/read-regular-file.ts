import { closeSync, constants, fstatSync, openSync, readFileSync, readSync } from "node:fs";

/**
 * The text of a small file. Undefined when there is none at that path, when it is anything but a regular file (a
 * pipe would block the process), or when it is larger than `maxBytes`.
 *
 * @throws when the file exists and cannot be read
 */
export function readRegularFile(path: string, maxBytes: number): string | undefined {
  return withRegularFile(path, (file, sizeBytes) =>
    sizeBytes <= maxBytes ? readFileSync(file, "utf8") : undefined,
  );
}

/**
 * The text in the first `maxBytes` of a file; its last character may be cut. Undefined when there is no regular file at
 * that path.
 *
 * @throws when the file exists and cannot be read
 */
export function readFileBeginning(path: string, maxBytes: number): string | undefined {
  return withRegularFile(path, (file, sizeBytes) => {
    const bytes = Buffer.alloc(Math.min(sizeBytes, maxBytes));
    const count = readSync(file, bytes, 0, bytes.length, 0);
    return bytes.subarray(0, count).toString("utf8");
  });
}

function withRegularFile(
  path: string,
  read: (file: number, sizeBytes: number) => string | undefined,
): string | undefined {
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
    return stats.isFile() ? read(file, stats.size) : undefined;
  } finally {
    closeSync(file);
  }
}
