import { relative } from "node:path";
import { z } from "zod";
import { isInside } from "../paths/is-inside.ts";
import { defineTool, failed, flag, type Tool } from "./tool.ts";

const MAX_MATCHES_PER_FILE = 200;
const SEARCH_TIMEOUT_MS = 30_000;
const MAX_OUTPUT_CHARS = 50_000;
const MAX_FILES = 1000;

const folder = z.string().min(1).describe("Where to look; the working directory if absent.").optional();

export const grep: Tool = defineTool({
  name: "Grep",
  description: "Searches files with a regular expression. Answers with path:line:text.",
  input: z.object({
    pattern: z.string().min(1).describe("Regular expression."),
    path: folder,
    glob: z.string().min(1).describe("Only files whose name fits, such as *.ts.").optional(),
    case_insensitive: flag("Ignore case."),
  }),
  aliases: { pattern: ["regex", "regexp", "search", "query"] },
  isReadOnly: true,
  isConcurrencySafe: true,
  target: ({ path }) => ({ path: path ?? ".", isFolder: true }),
  async run({ pattern, path, glob, case_insensitive }, { toolbox, targetPath, signal, cwd }) {
    const found = await toolbox.search({
      pattern,
      ...(path !== undefined && { path: targetPath ?? path }),
      ...(glob !== undefined && { glob }),
      ignoreCase: case_insensitive === true,
      maxMatchesPerFile: MAX_MATCHES_PER_FILE,
      timeoutMs: SEARCH_TIMEOUT_MS,
      signal,
    });
    if (found.kind === "failure") return failed(`Error: ${found.message}`);
    const lines = found.matches.map((match) => `${shortPath(cwd, match.path)}:${match.line}:${match.text}`);
    const whole = lines.length === 0 ? "No matches found." : lines.join("\n");
    const text =
      whole.length > MAX_OUTPUT_CHARS
        ? `${whole.slice(0, MAX_OUTPUT_CHARS).toWellFormed()}\n[output cut]`
        : whole;
    return {
      result: found.isTimedOut ? `${text}\n[timed out after 30 s]` : text,
      isError: found.isTimedOut,
      data: { matches: found.matches, truncated: found.isTruncated },
    };
  },
});

export const glob: Tool = defineTool({
  name: "Glob",
  description: "Finds files by name, newest first. Files that the project ignores are left out.",
  input: z.object({
    pattern: z.string().min(1).describe("Such as **/*.ts; without a leading **/ it fits at any depth."),
    path: folder,
  }),
  aliases: { pattern: ["glob_pattern", "file_pattern", "glob", "match", "include"] },
  isReadOnly: true,
  isConcurrencySafe: true,
  target: ({ pattern, path }) => ({ path: searchedFolder(pattern, path), isFolder: true }),
  async run({ pattern, path }, { toolbox, signal }) {
    const isAnchored = pattern.startsWith("**/") || pattern.startsWith("/");
    const found = await toolbox.findFiles({
      pattern: isAnchored ? pattern : `**/${pattern}`,
      ...(path !== undefined && { path }),
      limit: MAX_FILES,
      signal,
    });
    if (found.kind === "failure") {
      const isMissing = found.code === "not-found" || found.code === "not-a-file";
      return failed(isMissing ? `Error: no such directory: ${path ?? "."}` : `Error: ${found.message}`);
    }
    const { paths, moreCount } = found;
    const data = { paths, truncated: moreCount > 0 };
    if (paths.length === 0) return { result: "No files matched the pattern.", isError: false, data };
    const more = moreCount > 0 ? [`[${moreCount} more files]`] : [];
    return { result: [`Found ${paths.length} files:`, ...paths, ...more].join("\n"), isError: false, data };
  },
});

/** The folder a pattern reaches, for the permission check: its part before the first wildcard. */
function searchedFolder(pattern: string, path: string | undefined): string {
  const fixed = pattern.split(/[*?[{]/, 1)[0] ?? "";
  const start = fixed.slice(0, fixed.lastIndexOf("/") + 1);
  if (start.startsWith("/")) return start;
  return start.includes("..") ? `${path ?? "."}/${start}` : (path ?? ".");
}

function shortPath(cwd: string, path: string): string {
  return path !== cwd && isInside(cwd, path) ? relative(cwd, path) : path;
}
