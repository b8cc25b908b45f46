import { ErrorCode } from "@trivium/proto/grok-tools";
import { editEngine } from "../../../files/edit-engine/edit-engine.ts";
import { fileReadTracker } from "../../../files/file-read-tracker.ts";
import { toModelPath } from "../../../files/model-path.ts";
import { resolveTarget } from "../../../files/resolve-target.ts";
import { defineTool, type Tool, type ToolContext, type ToolResult } from "../../../tool.ts";
import { type AppliedEdit, decideEdit } from "./decide-edit.ts";
import { type EditFailure, editFailureResult } from "./edit-failure.ts";
import { editResult } from "./edit-result.ts";
import { isLegacy, refusePath, rememberWrite, toEditFailure, withMissingText } from "./edit-target.ts";
import {
  type SearchReplaceInput,
  type SearchReplaceParams,
  searchReplaceInput,
  searchReplaceParams,
} from "./search-replace-input.ts";
import { searchReplaceOutput } from "./search-replace-output.ts";

/** GrokBuild:search_replace: exact replacement of text in one file, or a new file. */
export const searchReplace: Tool = defineTool({
  id: "GrokBuild:search_replace",
  kind: "edit",
  capabilities: { readOnly: false },
  behaviorVersions: [
    { version: "current", lifecycle: "active" },
    { version: "legacy-0.4.10", lifecycle: "active" },
  ],
  description: ({ params }) => `Replaces text in a file.

- \`\${{ params.edit.old_string }}\` must occur exactly once, character for character, unless \`\${{ params.edit.replace_all }}\` is set. Leave out the \`N→\` anchors that \${{ tools.by_kind.read }} prints.
- Neither text is a pattern. The file keeps its line endings, encoding and everything around the replaced text.
- An empty \`\${{ params.edit.old_string }}\` creates the file with its folders${
    params.empty_old_string_does_not_override ? "; a file that has content is never overwritten this way" : ""
  }.`,
  input: searchReplaceInput,
  params: searchReplaceParams,
  output: searchReplaceOutput,
  resources: [fileReadTracker],
  requires: ({ params, toolset }) => {
    if (!toolset.hasKindWithInputs("edit", ["old_string", "new_string", "replace_all"])) {
      return { message: "a tool of kind edit needs the inputs old_string, new_string and replace_all" };
    }
    if (params.skip_read_before_edit || toolset.hasKind("read")) return undefined;
    return {
      message: "editing needs a tool that reads files, so that the model knows what it replaces",
      fieldPath: "params.skip_read_before_edit",
      expected: "true, or a reading tool such as read_file in the toolset",
    };
  },
  run: runSearchReplace,
});

type EditContext = ToolContext<SearchReplaceParams>;

/** Replaces text in one file. Shared with the concise sibling. */
export async function runSearchReplace(input: SearchReplaceInput, context: EditContext): Promise<ToolResult> {
  const named = toModelPath(input.file_path, context);
  const path = await resolveTarget(named.path);
  const outcome = await edit(input, path, context).catch((thrown: unknown) =>
    toEditFailure(thrown, named, context),
  );
  if (outcome.kind === "failure") {
    const failure = await withMissingText(outcome, named, context);
    return editFailureResult(failure, path, isLegacy(context));
  }
  return outcome.result;
}

async function edit(
  input: SearchReplaceInput,
  path: string,
  context: EditContext,
): Promise<EditFailure | { readonly kind: "done"; readonly result: ToolResult }> {
  const refusal = await refuseByInput(input, path, context);
  if (refusal !== undefined) return refusal;
  using outcome = await context.resource(editEngine).edit<EditFailure | AppliedEdit>({
    path,
    roots: context.workspaceRoots,
    signal: context.signal,
    decide(current) {
      const decision = decideEdit(current, { input, path, context });
      return { write: decision.kind === "failure" ? undefined : decision.content, result: decision };
    },
  });
  const { result, receipt, content } = outcome;
  if (result.kind === "failure") return result;
  if (receipt === undefined || content === undefined) return neverHappens();
  await rememberWrite(path, receipt, context);
  // A file that was there but empty counts as new.
  const told = result.how === "filled" ? { before: null, after: content.after } : content;
  context.touched({ access: "write", path, content: told });
  return { kind: "done", result: editResult({ input, path, receipt, applied: result }) };
}

/** The checks before the file is opened: its path, and whether the texts differ. */
async function refuseByInput(
  input: SearchReplaceInput,
  path: string,
  context: EditContext,
): Promise<EditFailure | undefined> {
  const refusal = await refusePath({ path, argument: input.file_path }, context);
  if (refusal !== undefined || input.old_string !== input.new_string) return refusal;
  const names = `\`${context.parameterName("old_string")}\` and \`${context.parameterName("new_string")}\``;
  return {
    kind: "failure",
    variant: "InvalidInput",
    code: ErrorCode.INVALID_INPUT,
    text: `Error: ${names} are the same, so there is nothing to change.`,
  };
}

function neverHappens(): never {
  throw new TypeError("a decision to write has a receipt");
}
