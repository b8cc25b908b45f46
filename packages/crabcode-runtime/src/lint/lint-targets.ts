import { stat } from "node:fs/promises";
import { extname, relative } from "node:path";
import { isInside } from "../paths/is-inside.ts";
import type { ToolboxPort } from "../ports/toolbox-port.ts";
import type { Linter, LintJob } from "./linter.ts";

/** Files of one kind that are looked for in a folder. */
const MAX_FILES = 200;

/** A file or folder to check. */
export interface LintTarget {
  /** Absolute, symbolic links resolved. */
  readonly path: string;
  readonly isFolder: boolean;
  /** Files of the kinds that were asked for: itself, or what lies in it. */
  readonly files: readonly string[];
}

/**
 * Looks what is there to check.
 *
 * @param kinds lists of endings without the dot; of each kind the newest 200 files of a folder are found
 * @throws when there is nothing at the path, or the folder cannot be searched
 */
export async function readTarget(
  path: string,
  kinds: readonly (readonly string[])[],
  { toolbox, signal }: { toolbox: Pick<ToolboxPort, "findFiles">; signal: AbortSignal },
): Promise<LintTarget> {
  const isFolder = (await stat(path)).isDirectory();
  if (!isFolder) return { path, isFolder, files: [path] };
  const found = await Promise.all(
    kinds.map(async (extensions) => {
      const pattern = `**/*.{${extensions.join(",")}}`;
      // A pattern of one alternative is written without braces.
      const answer = await toolbox.findFiles({
        pattern: extensions.length === 1 ? `**/*.${extensions[0] ?? ""}` : pattern,
        path,
        limit: MAX_FILES,
        signal,
      });
      if (answer.kind === "failure") throw new Error(answer.message);
      return answer.paths;
    }),
  );
  return { path, isFolder, files: [...new Set(found.flat())] };
}

/** Files that a linter checks. */
export function filesFor({ extensions }: Linter, { files }: LintTarget): string[] {
  return files.filter((file) => extensions.includes(extname(file).slice(1)));
}

/** What a linter is told to check. */
export function pathsFor(linter: Linter, targets: readonly LintTarget[], folder: string): LintJob["paths"] {
  if (linter.takes === "project") return [];
  return targets.flatMap((target) => {
    const files = filesFor(linter, target);
    if (files.length === 0) return [];
    const paths = target.isFolder && linter.takes === "paths" ? [target.path] : files;
    return paths.map((path) => argument(folder, path));
  });
}

/** A path that no program takes for an option. */
function argument(folder: string, path: string): string {
  return isInside(folder, path) ? `./${relative(folder, path)}` : path;
}
