import { cutToBytes } from "../../../cut-bytes.ts";
import { type EditDetail, editDetails } from "../../../files/edit-engine/edit-details.ts";
import { fromUnits } from "../../../files/edit-engine/editable-text.ts";
import type { MatchLevel } from "../../../files/edit-engine/fuzzy-matches.ts";
import type { ReplacedText } from "../../../files/edit-engine/replace-text.ts";
import type { ToolResult } from "../../../tool.ts";
import type { ChangeContext, ChangedFile } from "../change-file.ts";
import type { EditInput } from "./edit-input.ts";

/** Replacements that are described one by one. */
const MAX_DETAILS = 5000;
/** Lines around a change that are shown. */
const CONTEXT_LINES = 3;

type Changed = Omit<ChangedFile<unknown>, "facts">;

/** The answer for a new file. */
export function createdResult(input: EditInput, changed: Changed, context: ChangeContext): ToolResult {
  const summary = `The file ${changed.display} has been created.`;
  const lines = input.newString.split(/\r?\n/);
  if (lines.at(-1) === "") lines.pop();
  const detail: EditDetail = {
    old_string: "",
    old_line: 1,
    new_string: input.newString,
    new_line: 1,
    context_before: "",
    context_after: "",
    line_prefix: "",
  };
  return result(input, changed, { summary, snippet: numbered(lines, 1, context), details: [detail] });
}

/** The answer for replaced text. */
export function replacedResult(
  input: EditInput,
  changed: Omit<ChangedFile<ReplacedText>, "kind"> & { readonly facts: ReplacedText },
  context: ChangeContext,
): ToolResult {
  const { facts, display } = changed;
  const { replacements, matchLevel, anchorsRemoved } = facts;
  const isAsSent = matchLevel === "exact" && !anchorsRemoved;
  const details = editDetails(facts, MAX_DETAILS).map((detail) =>
    isAsSent ? { ...detail, old_string: input.oldString, new_string: input.newString } : detail,
  );
  const [only] = replacements.length === 1 ? details : [];
  const what = only === undefined ? ` All ${replacements.length} occurrences were replaced.` : "";
  const notes = [
    ...(matchLevel === "exact" ? [] : [levelNote(matchLevel)]),
    ...(anchorsRemoved ? ["The line anchors (`N→`) in the given text were left out."] : []),
  ];
  return result(input, changed, {
    summary: [`The file ${display} has been updated.${what}`, ...notes].join("\n"),
    snippet: only === undefined ? "" : snippetOf(facts, only, context),
    details,
    omittedCount: replacements.length - details.length,
    ...(context.params.fuzzy !== "off" && { matchLevel }),
  });
}

function levelNote(level: MatchLevel): string {
  return `Note: the given text does not occur exactly; the place was found by ${level} matching. Check that it is the right one.`;
}

interface Told {
  readonly summary: string;
  /** Numbered lines. Empty: none are shown. */
  readonly snippet: string;
  readonly details: readonly EditDetail[];
  readonly omittedCount?: number;
  readonly matchLevel?: MatchLevel;
}

function result(
  input: EditInput,
  { path, receipt }: Pick<Changed, "path" | "receipt">,
  told: Told,
): ToolResult {
  const { summary, snippet, details, omittedCount = 0, matchLevel } = told;
  const prompt = snippet === "" ? summary : `${summary}\n${snippet}`;
  return {
    output: {
      type: "SearchReplace",
      EditsApplied: {
        old_string: input.oldString,
        new_string: input.newString,
        tool_output_for_prompt: prompt,
        tool_output_for_prompt_concise: summary,
        absolute_path: path,
        edits: {
          details: details.map((detail) => ({ ...detail })),
          ...(omittedCount > 0 && { details_omitted: omittedCount }),
        },
        match_level: matchLevel,
        receipt: { ...receipt },
      },
    },
    promptText: prompt,
    concisePromptText: summary,
  };
}

/** The changed lines of the new text with some around them. */
function snippetOf(
  { text, units, replacements }: ReplacedText,
  detail: EditDetail,
  context: ChangeContext,
): string {
  const lines = units.toString().split("\n");
  if (lines.at(-1) === "") lines.pop();
  const inserted = replacements[0]?.units ?? "";
  const feeds = inserted.split("\n").length - 1;
  const lastLine = detail.new_line + Math.max(0, inserted.endsWith("\n") ? feeds - 1 : feeds);
  const first = Math.max(1, detail.new_line - CONTEXT_LINES);
  const shown = lines
    .slice(first - 1, lastLine + CONTEXT_LINES)
    .map((line) => fromUnits(line.endsWith("\r") ? line.slice(0, -1) : line, text));
  return numbered(shown, first, context);
}

function numbered(lines: readonly string[], firstLine: number, { limits }: ChangeContext): string {
  const text = lines.map((line, index) => `${firstLine + index}→${line}`).join("\n");
  const shown = cutToBytes(text, limits.maxOutput);
  return shown.length === text.length ? text : `${shown}\n[the rest is not shown]`;
}
