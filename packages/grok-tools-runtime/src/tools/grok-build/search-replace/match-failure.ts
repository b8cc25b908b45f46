import { ErrorCode } from "@trivium/proto/grok-tools";
import { confusableLines, firstConfusableSpan } from "../../../files/edit-engine/confusables.ts";
import { type EditableText, toUnits } from "../../../files/edit-engine/editable-text.ts";
import { MAX_MATCHES } from "../../../files/edit-engine/find-matches.ts";
import { nearestLine } from "../../../files/edit-engine/nearest-line.ts";
import type { ReplacedText, ReplaceTextOutcome } from "../../../files/edit-engine/replace-text.ts";
import type { ToolContext } from "../../../tool.ts";
import type { EditFailure } from "./edit-failure.ts";
import type { SearchReplaceInput, SearchReplaceParams } from "./search-replace-input.ts";

/** A replacement that was not made. */
type Unmatched = Exclude<ReplaceTextOutcome, ReplacedText>;

const MAX_NEAREST_BYTES = 200;
const MAX_LISTED_LINES = 8;
const MAX_PREVIEW_CHARS = 80;

/** Says what was looked for, why it was not replaced and what would help. */
export function matchFailure(
  outcome: Unmatched,
  input: SearchReplaceInput,
  context: ToolContext<SearchReplaceParams>,
): EditFailure {
  const oldName = context.parameterName("old_string");
  const path = input.file_path;
  switch (outcome.kind) {
    case "binary":
      return invalid(`Error: ${path} is a binary file and cannot be edited as text.`, "binary");
    case "not-text": {
      const name = context.parameterName(outcome.field === "oldString" ? "old_string" : "new_string");
      return invalid(
        `Error: \`${name}\` holds half of a surrogate pair, which is no text that a file can hold.`,
      );
    }
    case "only-line-endings":
      return invalid(
        `Error: \`${oldName}\` and \`${context.parameterName("new_string")}\` differ in line endings only, and an edit keeps those of the file.`,
      );
    case "too-many-matches":
      return invalid(
        `Error: \`${oldName}\` occurs more than ${MAX_MATCHES} times in ${path}; use a longer text.`,
      );
    case "multiple-matches":
      return multipleMatches(outcome, input, context);
    case "no-match":
      return noMatch(outcome.text, input, context);
  }
}

function invalid(text: string, reason?: string): EditFailure {
  return { kind: "failure", variant: "InvalidInput", code: ErrorCode.INVALID_INPUT, text, reason };
}

function multipleMatches(
  { matchCount, isAmbiguous }: { readonly matchCount: number; readonly isAmbiguous: boolean },
  input: SearchReplaceInput,
  context: ToolContext<SearchReplaceParams>,
): EditFailure {
  const oldName = context.parameterName("old_string");
  const replaceAll = context.parameterName("replace_all");
  const longer = `give a longer \`${oldName}\` with lines around it, so that it is found once`;
  const text = isAmbiguous
    ? `Error: \`${oldName}\` is ambiguous in ${input.file_path}: it is found only inside typographic characters. Use a more specific \`${oldName}\`.`
    : `Error: \`${oldName}\` (${preview(input.old_string)}) is found ${matchCount} times in ${input.file_path}. Set \`${replaceAll}\` to replace all, or ${longer}.`;
  return {
    kind: "failure",
    variant: "MultipleMatchesFound",
    code: ErrorCode.MULTIPLE_MATCHES,
    text,
    legacyText: `Error: \`${oldName}\` is found more than once in ${input.file_path}. Set \`${replaceAll}\` to replace all.`,
    suggestion: isAmbiguous ? `use a more specific ${oldName}` : longer,
  };
}

function noMatch(
  text: EditableText,
  input: SearchReplaceInput,
  context: ToolContext<SearchReplaceParams>,
): EditFailure {
  const oldName = context.parameterName("old_string");
  const read = context.toolName("read") ?? "the reading tool";
  const nearest = nearestLine(text, input.old_string);
  const parts = [
    `Error: \`${oldName}\` (${preview(input.old_string)}) is not in ${input.file_path}.`,
    `Read the file again with ${read} and copy the text exactly, without line anchors.`,
    ...(context.params.include_user_edit_hint ? ["The file may have been changed meanwhile."] : []),
    ...confusableHint(text, input.old_string, context),
  ];
  return {
    kind: "failure",
    variant: "NoMatchesFound",
    code: ErrorCode.NO_MATCHES,
    text: parts.join(" ") + (nearest === undefined ? "" : nearestHint(nearest.number, nearest.text)),
    legacyText: `Error: \`${oldName}\` is not in ${input.file_path}.`,
    suggestion: `read the file again with ${read}`,
    lineNumber: nearest?.number,
  };
}

function confusableHint(
  text: EditableText,
  oldString: string,
  context: ToolContext<SearchReplaceParams>,
): string[] {
  const span = firstConfusableSpan(text, toUnits(oldString, text));
  const lines = span === undefined ? [] : confusableLines(text, span);
  if (lines.length === 0) return [];
  const listed = lines.slice(0, MAX_LISTED_LINES).join(", ");
  const more = lines.length > MAX_LISTED_LINES ? ` (and ${lines.length - MAX_LISTED_LINES} more)` : "";
  const execute = context.toolName("execute");
  const otherwise = execute === undefined ? "" : `, or edit with ${execute}`;
  return [
    `It would match if typographic quotes, dashes and spaces were plain ones, on line ${listed}${more}: use a shorter text of plain ASCII characters${otherwise}.`,
  ];
}

/** The whole addition is short: it must not drown the message. */
function nearestHint(number: number, line: string): string {
  const hint = `\n\nNearest match: line ${number}: ${line}`;
  if (Buffer.byteLength(hint) <= MAX_NEAREST_BYTES) return hint;
  const ellipsis = "…";
  const head = Buffer.from(hint).subarray(0, MAX_NEAREST_BYTES - Buffer.byteLength(ellipsis));
  // A character cut in half decodes to U+FFFD, which is dropped.
  return head.toString("utf8").replace(/\ufffd+$/, "") + ellipsis;
}

function preview(text: string): string {
  const [first = "", ...rest] = text.split("\n");
  const head = first.slice(0, MAX_PREVIEW_CHARS).toWellFormed();
  const isCut = first.length > MAX_PREVIEW_CHARS || rest.length > 0;
  return JSON.stringify(head) + (isCut ? `…, ${text.length} characters` : "");
}
