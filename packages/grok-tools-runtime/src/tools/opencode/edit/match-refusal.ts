import { ErrorCode } from "@trivium/proto/grok-tools";
import type { EditableText } from "../../../files/edit-engine/editable-text.ts";
import { MAX_MATCHES } from "../../../files/edit-engine/find-matches.ts";
import type { ReplacedText, ReplaceTextOutcome } from "../../../files/edit-engine/replace-text.ts";
import { mostSimilarLine } from "../../../files/edit-engine/similar-line.ts";
import { shorten } from "../../../shorten.ts";
import type { ChangeContext, ChangeRefusal } from "../change-file.ts";
import type { EditInput } from "./edit-input.ts";

interface Call {
  readonly display: string;
  readonly context: ChangeContext;
}

const MAX_PREVIEW_CHARS = 80;

/** Says what was looked for, why it was not replaced and what would help. */
export function matchRefusal(
  outcome: Exclude<ReplaceTextOutcome, ReplacedText>,
  input: EditInput,
  call: Call,
): ChangeRefusal {
  const { display, context } = call;
  const oldName = context.parameterName("oldString");
  switch (outcome.kind) {
    case "binary":
      return invalid(`Error: ${display} is a binary file and cannot be edited as text.`, "binary");
    case "not-text": {
      const name = context.parameterName(outcome.field);
      return invalid(
        `Error: \`${name}\` holds half of a surrogate pair, which is no text that a file can hold.`,
      );
    }
    case "only-line-endings":
      return invalid(
        `Error: \`${oldName}\` and \`${context.parameterName("newString")}\` differ in line endings only, and an edit keeps those of the file.`,
      );
    case "too-many-matches":
      return invalid(
        `Error: \`${oldName}\` occurs more than ${MAX_MATCHES} times in ${display}; use a longer text.`,
      );
    case "multiple-matches":
      return severalMatches(outcome.matchCount, input, call);
    case "no-match":
      return noMatch(outcome.text, input, call);
  }
}

function invalid(text: string, reason?: string): ChangeRefusal {
  return { kind: "refusal", variant: "InvalidInput", code: ErrorCode.INVALID_INPUT, text, reason };
}

function severalMatches(count: number, { oldString }: EditInput, { display, context }: Call): ChangeRefusal {
  const oldName = context.parameterName("oldString");
  const longer = `give a longer \`${oldName}\` with lines around it, so that one place is meant`;
  return {
    kind: "refusal",
    variant: "MultipleMatchesFound",
    code: ErrorCode.MULTIPLE_MATCHES,
    text: `Error: \`${oldName}\` (${preview(oldString)}) fits ${count} places in ${display}. Set \`${context.parameterName("replaceAll")}\` to replace all, or ${longer}.`,
    suggestion: longer,
  };
}

function noMatch(text: EditableText, { oldString }: EditInput, { display, context }: Call): ChangeRefusal {
  const oldName = context.parameterName("oldString");
  const read = context.toolName("read") ?? "the reading tool";
  const similar = mostSimilarLine(text, oldString);
  const hint = similar === undefined ? "" : ` The most similar line is ${similar.number}: ${similar.text}`;
  return {
    kind: "refusal",
    variant: "NoMatchesFound",
    code: ErrorCode.NO_MATCHES,
    text: `Error: \`${oldName}\` (${preview(oldString)}) was not found in ${display}. Read the file with ${read} and copy the text exactly, with its indents.${hint}`,
    suggestion: `read the file again with ${read}`,
    ...(similar !== undefined && {
      lineNumber: similar.number,
      details: { hint: { line: similar.number, text: similar.text } },
    }),
  };
}

function preview(text: string): string {
  return JSON.stringify(shorten(text, MAX_PREVIEW_CHARS));
}
