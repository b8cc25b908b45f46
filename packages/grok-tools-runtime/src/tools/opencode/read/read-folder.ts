import { readdir, stat } from "node:fs/promises";
import { join } from "node:path";
import { FolderRules } from "../../../files/ignore/folder-rules.ts";
import { ignoreFilter } from "../../../files/ignore/ignore-filter.ts";
import { OpenFolder } from "../../../files/open-folder.ts";
import { readableRoots } from "../../../files/session-roots.ts";
import type { ToolContext, ToolResult } from "../../../tool.ts";
import { DEFAULT_LIMIT, type ReadInput } from "./read-input.ts";

/**
 * Shows the entries of a folder, a page at a time.
 *
 * @throws {@link TriviumError} `permissionDenied` outside the roots, or the file system's error.
 */
export async function showFolder(
  input: ReadInput,
  path: string,
  context: ToolContext<unknown>,
): Promise<ToolResult> {
  const { offset = 1, limit = DEFAULT_LIMIT } = input;
  const names = await entriesOf(path, context);
  const shown = names.slice(offset - 1, offset - 1 + limit);
  const last = offset - 1 + shown.length;
  const isMore = last < names.length;
  const footer =
    shown.length === names.length
      ? `(${names.length} entries)`
      : `(${shown.length} of ${names.length} entries${isMore ? `; use ${context.parameterName("offset")}=${last + 1} for entry ${last + 1} and on` : ""})`;
  const text = [
    `<path>${path}</path>`,
    "<type>directory</type>",
    "<entries>",
    ...shown,
    "",
    footer,
    "</entries>",
  ].join("\n");
  return {
    output: {
      type: "ReadFile",
      FileContent: {
        content: text,
        absolute_path: path,
        offset: input.offset ?? null,
        limit: input.limit,
        raw_output: shown.join("\n"),
        total_lines: names.length,
      },
    },
    promptText: text,
    truncated: isMore,
  };
}

/** By name without regard to case; folders, and links to folders, with a slash. */
async function entriesOf(path: string, context: ToolContext<unknown>): Promise<string[]> {
  await using folder = await OpenFolder.open(path, { roots: readableRoots(context) });
  const entries = await readdir(folder.path, { withFileTypes: true });
  const isHidden = await hidingRule(path, context);
  const names: string[] = [];
  for (const entry of entries) {
    context.signal.throwIfAborted();
    const isFolder =
      entry.isDirectory() || (entry.isSymbolicLink() && (await leadsToFolder(join(path, entry.name))));
    if (!isHidden(entry.name, isFolder)) names.push(isFolder ? `${entry.name}/` : entry.name);
  }
  return names.sort((one, other) => {
    const [left, right] = [one.toLowerCase(), other.toLowerCase()];
    return left === right ? (one < other ? -1 : 1) : left < right ? -1 : 1;
  });
}

/** Where ignored files are off limits, listings leave them out. */
async function hidingRule(
  path: string,
  context: ToolContext<unknown>,
): Promise<(name: string, isFolder: boolean) => boolean> {
  if (context.settings.respectGitignore !== "all") return () => false;
  const rules = await FolderRules.of(path, context.resource(ignoreFilter).files, {
    git: true,
    dotIgnore: false,
  });
  return (name, isFolder) => rules.isIgnored(name, isFolder);
}

async function leadsToFolder(path: string): Promise<boolean> {
  return await stat(path).then(
    (stats) => stats.isDirectory(),
    // A link to nothing.
    () => false,
  );
}
