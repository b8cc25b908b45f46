import { open } from "node:fs/promises";

/** The text of an ordinary file; undefined when it is none, too large, or cannot be read. */
export async function readBoundedFile(path: string, maxBytes: number): Promise<string | undefined> {
  try {
    await using file = await open(path, "r");
    const stats = await file.stat();
    if (!stats.isFile() || stats.size > maxBytes) return undefined;
    return await file.readFile("utf8");
  } catch {
    // Missing or not readable: there is nothing to read for this session.
    return undefined;
  }
}
