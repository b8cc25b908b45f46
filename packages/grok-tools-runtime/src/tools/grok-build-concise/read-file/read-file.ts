import { fileReadTracker } from "../../../files/file-read-tracker.ts";
import { defineTool, type Tool } from "../../../tool.ts";
import { shownCursorRules } from "../../grok-build/read-file/cursor-rules.ts";
import { runReadFile } from "../../grok-build/read-file/read-file.ts";
import { readFileInput, readFileParams } from "../../grok-build/read-file/read-file-input.ts";
import { readFileOutput } from "../../grok-build/read-file/read-file-output.ts";
import { conciseResult } from "../concise-result.ts";

/** GrokBuildConcise:read_file: the reading tool with the concise forms in place of the full ones. */
export const readFileConcise: Tool = defineTool({
  id: "GrokBuildConcise:read_file",
  kind: "read",
  capabilities: { readOnly: true },
  description:
    "Reads a file, at most {max_lines_read} lines. The first line and every tenth start with `N→`, which is not part of the file.",
  input: readFileInput,
  params: readFileParams,
  output: readFileOutput,
  resources: [fileReadTracker, shownCursorRules],
  truncation: { builtInMaxOutput: Number.POSITIVE_INFINITY },
  run: async (input, context) => conciseResult(await runReadFile(input, context), "FileContent"),
});
