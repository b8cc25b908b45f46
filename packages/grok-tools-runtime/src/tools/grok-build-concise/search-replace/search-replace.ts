import { fileReadTracker } from "../../../files/file-read-tracker.ts";
import { defineTool, type Tool } from "../../../tool.ts";
import { runSearchReplace } from "../../grok-build/search-replace/search-replace.ts";
import {
  searchReplaceInput,
  searchReplaceParams,
} from "../../grok-build/search-replace/search-replace-input.ts";
import { searchReplaceOutput } from "../../grok-build/search-replace/search-replace-output.ts";
import { conciseResult } from "../concise-result.ts";

/** GrokBuildConcise:search_replace: the replacing tool with the concise forms in place of the full ones. */
export const searchReplaceConcise: Tool = defineTool({
  id: "GrokBuildConcise:search_replace",
  kind: "edit",
  capabilities: { readOnly: false },
  description:
    "Replaces the only occurrence of `${{ params.edit.old_string }}` in a file, or all with `${{ params.edit.replace_all }}`. An empty `${{ params.edit.old_string }}` creates the file.",
  input: searchReplaceInput,
  params: searchReplaceParams,
  output: searchReplaceOutput,
  resources: [fileReadTracker],
  requires: ({ toolset }) =>
    toolset.hasKindWithInputs("edit", ["old_string", "new_string", "replace_all"])
      ? undefined
      : { message: "a tool of kind edit needs the inputs old_string, new_string and replace_all" },
  run: async (input, context) => conciseResult(await runSearchReplace(input, context), "EditsApplied"),
});
