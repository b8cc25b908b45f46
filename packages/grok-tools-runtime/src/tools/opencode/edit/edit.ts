import { ErrorCode } from "@trivium/proto/grok-tools";
import type { CurrentFile } from "../../../files/edit-engine/current-file.ts";
import { type ReplacedText, replaceText } from "../../../files/edit-engine/replace-text.ts";
import { wholeContent } from "../../../files/edit-engine/whole-content.ts";
import { fileReadTracker } from "../../../files/file-read-tracker.ts";
import { defineTool, type Tool, type ToolResult } from "../../../tool.ts";
import { acceptTwins } from "../accept-twins.ts";
import { type ChangeContext, type ChangePlan, type ChangeRefusal, changeFile } from "../change-file.ts";
import { openCodeEditParams } from "../edit-params.ts";
import { editedOutput } from "../edited-output.ts";
import { type EditInput, editInput } from "./edit-input.ts";
import { createdResult, replacedResult } from "./edit-result.ts";
import { matchRefusal } from "./match-refusal.ts";

/** OpenCode:edit: replaces text in one file, or makes a new file. */
export const edit: Tool = acceptTwins(
  defineTool({
    id: "OpenCode:edit",
    kind: "edit",
    capabilities: { readOnly: false },
    description: ({ params }) => `Replaces text in a file.

- \`\${{ params.edit.oldString }}\` must occur exactly once unless \`\${{ params.edit.replaceAll }}\` is set. Copy it from the file with its indents, without the line numbers that \${{ tools.by_kind.read }} prints.
- Neither text is a pattern. The file keeps its line endings, its encoding and everything around the replaced text.
- An empty \`\${{ params.edit.oldString }}\` makes a new file with its folders; a file that has content is never overwritten this way.${
      params.require_read ? "\n- Read a file before you change it." : ""
    }`,
    input: editInput,
    params: openCodeEditParams,
    output: editedOutput,
    resources: [fileReadTracker],
    run: runEdit,
  }),
  { filePath: "file_path", oldString: "old_string", newString: "new_string", replaceAll: "replace_all" },
);

/** Undefined: the file was created. */
type EditFacts = ReplacedText | undefined;

async function runEdit(input: EditInput, context: ChangeContext): Promise<ToolResult> {
  const outcome = await changeFile<EditFacts>(
    {
      filePath: input.filePath,
      check: () => (input.oldString === input.newString ? sameTexts(context) : undefined),
      plan: (current, display) =>
        input.oldString === ""
          ? planCreation(current, input, { display, context })
          : planReplacement(current, input, { display, context }),
    },
    context,
  );
  if (outcome.kind === "refused") return outcome.result;
  const { facts, ...changed } = outcome;
  return facts === undefined
    ? createdResult(input, changed, context)
    : replacedResult(input, { ...changed, facts }, context);
}

interface Call {
  readonly display: string;
  readonly context: ChangeContext;
}

function sameTexts({ parameterName }: ChangeContext): ChangeRefusal {
  const names = `\`${parameterName("oldString")}\` and \`${parameterName("newString")}\``;
  return {
    kind: "refusal",
    variant: "InvalidInput",
    code: ErrorCode.INVALID_INPUT,
    text: `Error: ${names} are the same, so there is nothing to change.`,
  };
}

function planCreation(
  current: CurrentFile | undefined,
  input: EditInput,
  { display, context }: Call,
): ChangePlan<EditFacts> | ChangeRefusal {
  const oldName = context.parameterName("oldString");
  if (current !== undefined && current.bytes.length > 0) {
    return {
      kind: "refusal",
      variant: "FileAlreadyExists",
      code: ErrorCode.FILE_ALREADY_EXISTS,
      text: `Error: ${display} exists and has content, which an empty \`${oldName}\` does not overwrite. Put the text to replace into \`${oldName}\`.`,
      suggestion: `put the text to replace into ${oldName}`,
    };
  }
  if (!input.newString.isWellFormed()) {
    return matchRefusal({ kind: "not-text", field: "newString" }, input, { display, context });
  }
  return {
    kind: "plan",
    content: wholeContent(current, input.newString),
    fillsEmpty: current !== undefined,
    facts: undefined,
  };
}

function planReplacement(
  current: CurrentFile | undefined,
  input: EditInput,
  { display, context }: Call,
): ChangePlan<EditFacts> | ChangeRefusal {
  if (current === undefined) {
    return {
      kind: "refusal",
      variant: "FileNotFound",
      code: ErrorCode.FILE_NOT_FOUND,
      text: `Error: ${display} does not exist.`,
    };
  }
  const { oldString, newString, replaceAll } = input;
  const outcome = replaceText(current.bytes, {
    oldString,
    newString,
    replaceAll,
    fuzziness: context.params.fuzzy,
  });
  if (outcome.kind !== "replaced") return matchRefusal(outcome, input, { display, context });
  return { kind: "plan", content: outcome, facts: outcome };
}
