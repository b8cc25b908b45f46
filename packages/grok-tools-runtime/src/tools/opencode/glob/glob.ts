import { isAbsolute, join } from "node:path";
import { ErrorCode } from "@trivium/proto/grok-tools";
import { z } from "zod";
import { type ModelPath, toModelPath } from "../../../files/model-path.ts";
import { absentable } from "../../../input/lenient.ts";
import { matchingFiles } from "../../../search/matching-files.ts";
import { newestFirst } from "../../../search/newest-first.ts";
import {
  defineTool,
  type LogicalFailure,
  type Tool,
  type ToolContext,
  type ToolResult,
} from "../../../tool.ts";
import { escapeXml } from "../../../xml-text.ts";
import { checkSearchRoot } from "../../grok-build/grep/search-root.ts";
import { globOutput } from "./glob-output.ts";

const TIMEOUT_MS = 20_000;
const MAX_SHOWN = 100;

interface GlobInput {
  readonly pattern: string;
  readonly path?: string | undefined;
}

/** OpenCode:glob: files by name, those that changed last first. */
export const glob: Tool = defineTool({
  id: "OpenCode:glob",
  kind: "list",
  capabilities: { readOnly: true, cancellable: true },
  description: `Finds files by a glob such as \`**/*.ts\`. At most ${MAX_SHOWN} paths are listed, the files that changed last first. Hidden files are found too.`,
  input: z.object({
    pattern: z.string().describe("Glob. Without a slash it is about names in any folder."),
    path: absentable(z.string()).describe("Folder to look in. Default: the working directory."),
  }),
  output: globOutput,
  run: runGlob,
});

async function runGlob(input: GlobInput, context: ToolContext<undefined>): Promise<ToolResult> {
  const { base, pattern } = splitAbsolute(input);
  const named = toModelPath(base, context);
  const checked = await checkSearchRoot(named, context);
  if (checked.kind === "failure") return refused(checked.text, checked.failure);
  await using root = checked.root;
  if (root.isFile) {
    const code = ErrorCode.FILE_NOT_FOUND;
    const text = `Error: ${named.display} is a file, not a directory.`;
    return refused(text, { code, reason: "not_a_directory", filePath: named.path });
  }
  const { settings, programRunner, environment, signal } = context;
  const { names, globProblem, isIncomplete } = await matchingFiles({
    root,
    glob: pattern,
    scope: { programRunner, rgPath: settings.rgPath, environment, timeoutMs: TIMEOUT_MS, signal },
    obeysGitIgnore: settings.respectGitignore !== "off",
    globNarrows: settings.respectGitignore === "all",
  });
  if (globProblem !== undefined) {
    const code = ErrorCode.INVALID_INPUT;
    return refused(`Error: ${globProblem}`, {
      code,
      reason: "invalid_pattern",
      suggestion: "correct the glob",
    });
  }
  if (names.length === 0 && isIncomplete) {
    const text = `Error: nothing was found within ${TIMEOUT_MS / 1000} seconds; look in a smaller folder.`;
    return refused(text, {
      code: ErrorCode.TIMEOUT,
      retryable: true,
      suggestion: "look in a smaller folder",
    });
  }
  context.touched({ access: "list", path: named.path });
  const newest = await newestFirst(root.openPath, names, signal);
  return listed(newest, { named, isIncomplete, workingDirectory: context.workingDirectory });
}

/** `/work/x/**\/*.ts` is a pattern in a folder of its own. */
function splitAbsolute({ pattern, path = "" }: GlobInput): { base: string; pattern: string } {
  if (!isAbsolute(pattern)) return { base: path, pattern };
  const names = pattern.split("/");
  const first = names.findIndex((name) => /[*?[{\\]/.test(name));
  const at = first === -1 ? names.length - 1 : first;
  return { base: names.slice(0, at).join("/") || "/", pattern: `/${names.slice(at).join("/")}` };
}

interface Listing {
  readonly named: ModelPath;
  readonly isIncomplete: boolean;
  readonly workingDirectory: string;
}

function listed(names: readonly string[], { named, isIncomplete, workingDirectory }: Listing): ToolResult {
  const entries = names.slice(0, MAX_SHOWN).map((name) => join(named.path, name));
  const isTruncated = names.length > MAX_SHOWN || isIncomplete;
  const total = `${isIncomplete ? "at least " : ""}${names.length}`;
  const note = `(truncated: ${entries.length} of ${total} files are listed, at most ${MAX_SHOWN}; use a narrower pattern or path)`;
  const text =
    entries.length === 0
      ? "No files found"
      : [
          `<workspace_result workspace_path="${escapeXml(workingDirectory)}">`,
          ...entries,
          ...(isTruncated ? [note] : []),
          "</workspace_result>",
        ].join("\n");
  return {
    output: {
      type: "Text",
      text,
      tool_output_for_prompt: text,
      count: entries.length,
      total_count: names.length,
      truncated: isTruncated,
      entries,
      cwd_for_display: workingDirectory,
    },
    promptText: text,
    truncated: isTruncated,
  };
}

function refused(text: string, failure: LogicalFailure): ToolResult {
  return { output: { type: "Text", text }, promptText: text, failure };
}
