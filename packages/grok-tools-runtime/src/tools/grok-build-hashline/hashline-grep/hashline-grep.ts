import { resolve } from "node:path";
import { lineIndexCache } from "../../../files/line-index-cache.ts";
import { openFile } from "../../../files/open-file.ts";
import { readText } from "../../../files/read-text.ts";
import type { FileLines, FoundLine } from "../../../search/matching-lines.ts";
import type { SearchRoot } from "../../../search/search-query.ts";
import { defineTool, type Tool, type ToolContext } from "../../../tool.ts";
import { grep, type LineNames, runGrep } from "../../grok-build/grep/grep.ts";
import { grepInput, grepOutput, grepParams } from "../../grok-build/grep/grep-schemas.ts";
import { lineAnchors } from "../anchors/line-anchors.ts";
import { type SchemeParams, schemeParams } from "../anchors/scheme-params.ts";

/** Time for making anchors; the rest of the lines come without. */
const ANCHORS_MS = 60_000;
const MAX_FILE_BYTES = 16 * 1024 * 1024;

/** GrokBuildHashline:hashline_grep: a search whose lines carry the anchors by which they can be edited. */
export const hashlineGrep: Tool = defineTool<typeof grepInput, SchemeParams>({
  id: "GrokBuildHashline:hashline_grep",
  kind: "search",
  capabilities: { readOnly: true, cancellable: true },
  description: `Searches files with ripgrep for a regular expression.

- Lines come as \`ANCHOR:text\` when they match and as \`ANCHOR-text\` around a match. Give anchors to \`\${{ tools.by_kind.edit }}\` exactly as they are shown.
- Special characters of literal text need a backslash, for example \`interface\\{\\}\`. Look-around works too.
- Hidden and ignored files are left out, unless \`\${{ params.search.path }}\` names them or \`\${{ params.search.glob }}\` matches them; a server can put ignored files off limits altogether.
- Results are sorted by path and limited; narrow the search with \`\${{ params.search.path }}\`, \`\${{ params.search.glob }}\` or \`\${{ params.search.type }}\`.`,
  input: grepInput,
  params: schemeParams,
  output: grepOutput,
  specialiseInput: (schema) => grep.specialiseInput(schema, undefined),
  run: async (input, context) => {
    const searching = { ...context, params: grepParams.schema.parse({}) };
    return await runGrep(input, searching, (files, root) => anchorsOf(files, root, context));
  },
});

async function anchorsOf(
  files: readonly FileLines[],
  root: SearchRoot,
  context: ToolContext<SchemeParams>,
): Promise<LineNames> {
  const byPath = new Map<string, FileAnchors>();
  const deadline = context.clock.monotonic() + ANCHORS_MS;
  for (const { path } of files) {
    context.signal.throwIfAborted();
    if (context.clock.monotonic() > deadline) break;
    const anchors = await fileAnchors(root.isFile ? root.path : resolve(root.path, path), root, context);
    if (anchors !== undefined) byPath.set(path, anchors);
  }
  const missing = files.length - byPath.size;
  return {
    nameOf: (path, line) => nameOf(byPath.get(path), line),
    notes:
      missing > 0
        ? [
            `[no anchors for the lines of ${missing} ${missing === 1 ? "file" : "files"}; read before you edit]`,
          ]
        : [],
  };
}

interface FileAnchors {
  readonly lines: readonly string[];
  readonly anchors: readonly string[];
}

/** Undefined: the file is too large, or has gone since it was searched. */
async function fileAnchors(
  path: string,
  root: SearchRoot,
  context: ToolContext<SchemeParams>,
): Promise<FileAnchors | undefined> {
  const { signal, params } = context;
  try {
    await using file = await openFile(path, root.roots);
    const { window } = await readText(file, {
      path,
      indexes: context.resource(lineIndexCache),
      signal,
      offset: 1,
      maxLines: Infinity,
      maxBytes: MAX_FILE_BYTES,
    });
    if (window.kind === "too-large") return undefined;
    return { lines: window.lines, anchors: lineAnchors(window.lines, 1, params) };
  } catch {
    signal.throwIfAborted();
    return undefined;
  }
}

/** A line that is not what it was when it was found has no anchor. */
function nameOf(file: FileAnchors | undefined, { number, text }: FoundLine): string | undefined {
  return file?.lines[number - 1]?.startsWith(text) === true ? file.anchors[number - 1] : undefined;
}
