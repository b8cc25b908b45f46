import { type EditedContent, type EditReceipt, editEngine } from "../../../files/edit-engine/edit-engine.ts";
import { fileReadTracker } from "../../../files/file-read-tracker.ts";
import { toModelPath } from "../../../files/model-path.ts";
import { resolveTarget } from "../../../files/resolve-target.ts";
import { defineTool, type Tool, type ToolContext, type ToolResult } from "../../../tool.ts";
import { type EditFailure, editFailureResult } from "../../grok-build/search-replace/edit-failure.ts";
import {
  refusePath,
  rememberWrite,
  toEditFailure,
  withMissingText,
} from "../../grok-build/search-replace/edit-target.ts";
import { searchReplaceOutput } from "../../grok-build/search-replace/search-replace-output.ts";
import { type SchemeParams, schemeParams } from "../anchors/scheme-params.ts";
import { decideHashlineEdit, type HashlineEdit } from "./decide-hashline-edit.ts";
import { type HashlineEditInput, hashlineEditInput } from "./hashline-edit-input.ts";
import { snippetOf } from "./snippet.ts";

/** GrokBuildHashline:hashline_edit: changes of lines that are named by their anchors. */
export const hashlineEdit: Tool = defineTool<typeof hashlineEditInput, SchemeParams>({
  id: "GrokBuildHashline:hashline_edit",
  kind: "edit",
  capabilities: { readOnly: false },
  description: `Changes lines of a file that are named by their anchors, as \${{ tools.by_kind.read }} shows them.

- \`replace\` puts \`content\` in the place of the line \`anchor\`, or of the lines from \`anchor\` to \`end_anchor\`; empty content removes them. \`insert_after\` adds lines after \`anchor\`, which may also be \`0:\` (beginning) or \`EOF\` (end). \`write\` replaces or creates the whole file and comes alone.
- All anchors refer to the file as it is before the call. When one is out of date nothing is changed, and the answer has the current anchors.
- \`content\` is the text of the lines alone, without anchors. A line feed at its end adds no blank line. The file keeps its line endings and its encoding.`,
  input: hashlineEditInput,
  params: schemeParams,
  output: searchReplaceOutput,
  resources: [fileReadTracker],
  run: runHashlineEdit,
});

const NOTED_RANGE = 6;
const CAUTIONED_RANGE = 21;
/** Characters of the old and the new text in an answer; an answer must fit into one message. */
const MAX_TEXT_CHARS = 6 * 1024 * 1024;

async function runHashlineEdit(
  input: HashlineEditInput,
  context: ToolContext<SchemeParams>,
): Promise<ToolResult> {
  const named = toModelPath(input.file_path, context);
  const path = await resolveTarget(named.path);
  const outcome = await edit(input, path, context).catch((thrown: unknown) =>
    toEditFailure(thrown, named, context),
  );
  if (!("kind" in outcome)) return outcome;
  return editFailureResult(await withMissingText(outcome, named, context), path, false);
}

async function edit(
  input: HashlineEditInput,
  path: string,
  context: ToolContext<SchemeParams>,
): Promise<EditFailure | ToolResult> {
  const refusal = await refusePath({ path, argument: input.file_path }, context);
  if (refusal !== undefined) return refusal;
  using outcome = await context.resource(editEngine).edit<EditFailure | HashlineEdit>({
    path,
    roots: context.workspaceRoots,
    signal: context.signal,
    decide(current) {
      const decision = decideHashlineEdit(current, input, context.params);
      return { write: decision.kind === "failure" ? undefined : decision.content, result: decision };
    },
  });
  const { result, receipt, content } = outcome;
  if (result.kind === "failure") return result;
  if (receipt === undefined || content === undefined)
    throw new TypeError("a decision to write has a receipt");
  await rememberWrite(path, receipt, context);
  context.touched({ access: "write", path, content });
  return toResult({ input, path, receipt, content, applied: result });
}

interface WrittenEdit {
  readonly input: HashlineEditInput;
  /** Real path. */
  readonly path: string;
  readonly receipt: EditReceipt;
  readonly content: EditedContent;
  readonly applied: HashlineEdit;
}

function toResult({ input, path, receipt, content, applied }: WrittenEdit): ToolResult {
  const { widestRange, after, changed, details } = applied;
  const how = content.before === null ? "created" : "updated";
  const prompt = [
    ...cautionsOn(widestRange),
    `The file ${input.file_path} has been ${how}. The changed lines with their anchors:`,
    snippetOf(after, changed),
  ].join("\n");
  const before = content.before ?? "";
  const hasTexts = before.length + content.after.length <= MAX_TEXT_CHARS;
  return {
    output: {
      type: "SearchReplace",
      EditsApplied: {
        old_string: hasTexts ? before : "",
        new_string: hasTexts ? content.after : "",
        ...(!hasTexts && { texts_omitted: true }),
        tool_output_for_prompt: prompt,
        absolute_path: path,
        edits: { details: details.map((detail) => ({ ...detail })) },
        receipt: { ...receipt },
      },
    },
    promptText: prompt,
  };
}

function cautionsOn(lineCount: number): string[] {
  if (lineCount >= CAUTIONED_RANGE) {
    return [
      `Caution: ${lineCount} lines were replaced at once. Make sure that nothing is gone that was to stay.`,
    ];
  }
  return lineCount >= NOTED_RANGE ? [`Note: ${lineCount} lines were replaced at once.`] : [];
}
