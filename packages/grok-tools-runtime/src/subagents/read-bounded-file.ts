import { openFile } from "../files/open-file.ts";
import type { Roots } from "../files/path-jail.ts";

/** The text of an ordinary file; undefined when it is none, too large, outside the roots, or cannot be read. */
export async function readBoundedFile(
  path: string,
  { maxBytes, roots }: { readonly maxBytes: number; readonly roots: Roots },
): Promise<string | undefined> {
  try {
    await using file = await openFile(path, roots);
    return file.sizeBytes > maxBytes ? undefined : await file.handle.readFile("utf8");
  } catch {
    // Missing or not readable: there is nothing to read for this session.
    return undefined;
  }
}
