import { realpathSync } from "node:fs";
import { join } from "node:path";
import { z } from "zod";
import { isInside } from "../paths/is-inside.ts";
import { readRegularFile } from "../text/read-regular-file.ts";

/** Whose notes they are. */
export type MemoryScope = "project" | "global";

/** Something to remember beyond a conversation. */
export interface Memory {
  /** 12 hexadecimal characters. */
  readonly id: string;
  readonly title: string;
  readonly content: string;
  /** RFC 3339. */
  readonly created_at: string;
  readonly updated_at?: string | undefined;
}

/** Larger files are not read. */
export const MAX_MEMORY_BYTES: number = 1024 * 1024;

const memory = z.looseObject({
  id: z.string(),
  title: z.string(),
  content: z.string(),
  created_at: z.string().catch(""),
  updated_at: z.string().optional().catch(undefined),
});
// One that cannot be read does not cost the others.
const memoryList = z.array(z.unknown()).transform((items): MemoryFile => {
  const others = items.filter((item) => !memory.safeParse(item).success);
  return { memories: items.flatMap((item) => memory.safeParse(item).data ?? []), others };
});

/** What a file of memories holds. */
export interface MemoryFile {
  readonly memories: readonly Memory[];
  /** What is no memory, written by somebody else. */
  readonly others: readonly unknown[];
}

/** Where the memories of a scope are kept; undefined when the user has no folder. */
export function memoryFile(
  scope: MemoryScope,
  { cwd, userFolder }: { readonly cwd: string; readonly userFolder: string | undefined },
): string | undefined {
  const folder = scope === "project" ? join(cwd, ".crabcode") : userFolder;
  return folder === undefined ? undefined : join(folder, "memories.json");
}

/**
 * The memories in a file, none when there is no such file.
 *
 * @param root the file has to lie inside, symbolic links resolved; undefined: anywhere
 * @throws Error when the file is there and cannot be used
 */
export function readMemories(path: string, root: string | undefined): MemoryFile {
  const real = realPath(path);
  if (real === undefined) return { memories: [], others: [] };
  if (root !== undefined && !isInside(root, real)) throw new Error(`${path} leads out of the folder`);
  const text = readRegularFile(real, MAX_MEMORY_BYTES);
  if (text === undefined) throw new Error(`${path} is no file of at most ${MAX_MEMORY_BYTES} bytes`);
  return memoryList.parse(JSON.parse(text));
}

function realPath(path: string): string | undefined {
  try {
    return realpathSync(path);
  } catch {
    // Most folders have no memories.
    return undefined;
  }
}
