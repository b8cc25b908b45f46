import { type EditDetail, editDetails } from "../../../files/edit-engine/edit-details.ts";
import type { EditReceipt } from "../../../files/edit-engine/edit-engine.ts";
import type { ReplacedText } from "../../../files/edit-engine/replace-text.ts";
import type { ToolResult } from "../../../tool.ts";
import type { AppliedEdit } from "./decide-edit.ts";
import type { SearchReplaceInput } from "./search-replace-input.ts";

/** Replacements that are described one by one. */
const MAX_DETAILS = 5000;

/** An edit that was written. */
export interface WrittenEdit {
  readonly input: SearchReplaceInput;
  /** Real path. */
  readonly path: string;
  readonly receipt: EditReceipt;
  readonly applied: AppliedEdit;
}

/** The answer for an edit. */
export function editResult({ input, path, receipt, applied }: WrittenEdit): ToolResult {
  const { replaced, warning } = applied;
  const notes = [
    ...(replaced?.anchorsRemoved === true
      ? ["The line anchors (`N→`) in the given text were left out."]
      : []),
    ...(replaced?.typographyFlattened === true
      ? ["It was found with typographic quotes, dashes and spaces taken as plain ones."]
      : []),
    ...(warning === undefined ? [] : [warning]),
  ];
  const prompt = [summaryOf(input, applied), ...notes].join(" ");
  const concise = [conciseSummaryOf(input, applied), ...notes].join(" ");
  const details = replaced === undefined ? [wholeDetail(input)] : detailsOf(input, replaced);
  const omitted = (replaced?.replacements.length ?? 1) - details.length;
  return {
    output: {
      type: "SearchReplace",
      EditsApplied: {
        old_string: input.old_string,
        new_string: input.new_string,
        tool_output_for_prompt: prompt,
        tool_output_for_prompt_concise: concise,
        absolute_path: path,
        edits: {
          details: details.map((detail) => ({ ...detail })),
          ...(omitted > 0 && { details_omitted: omitted }),
        },
        ...(replaced?.typographyFlattened === true && { unicode_normalized: true }),
        receipt: { ...receipt },
      },
    },
    promptText: prompt,
    concisePromptText: concise,
  };
}

function summaryOf(
  { file_path: path, replace_all: all }: SearchReplaceInput,
  { how, replaced }: AppliedEdit,
): string {
  switch (how) {
    case "created":
    case "filled":
      return `The file ${path} has been created.`;
    case "overwritten":
      return `The file ${path} has been overwritten: all of its old content is gone.`;
    case "replaced": {
      const count = replaced?.replacements.length ?? 0;
      return all
        ? `The file ${path} has been updated: all occurrences (${count}) were replaced.`
        : `The file ${path} has been updated.`;
    }
  }
}

function conciseSummaryOf(
  { file_path: path, replace_all: all }: SearchReplaceInput,
  { how }: AppliedEdit,
): string {
  if (how === "replaced") return all ? `Updated ${path}, all occurrences.` : `Updated ${path}.`;
  return how === "overwritten" ? `Overwritten: ${path}.` : `Created ${path}.`;
}

function wholeDetail({ old_string, new_string }: SearchReplaceInput): EditDetail {
  return {
    old_string,
    old_line: 1,
    new_string,
    new_line: 1,
    context_before: "",
    context_after: "",
    line_prefix: "",
  };
}

function detailsOf(input: SearchReplaceInput, replaced: ReplacedText): EditDetail[] {
  const details = editDetails(replaced, MAX_DETAILS);
  if (replaced.anchorsRemoved || replaced.typographyFlattened) return details;
  const { old_string, new_string } = input;
  return details.map((detail) => ({ ...detail, old_string, new_string }));
}
