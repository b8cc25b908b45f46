import { ErrorCode } from "@trivium/proto/grok-tools";
import type { CurrentFile } from "../../../files/edit-engine/current-file.ts";
import type { NewContent } from "../../../files/edit-engine/edit-engine.ts";
import { type ReplacedText, replaceText } from "../../../files/edit-engine/replace-text.ts";
import { wholeContent } from "../../../files/edit-engine/whole-content.ts";
import { fileReadTracker } from "../../../files/file-read-tracker.ts";
import type { ToolContext } from "../../../tool.ts";
import type { EditFailure } from "./edit-failure.ts";
import { matchFailure } from "./match-failure.ts";
import type { SearchReplaceInput, SearchReplaceParams } from "./search-replace-input.ts";

/** An edit that is to be written. */
export interface AppliedEdit {
  readonly kind: "applied";
  readonly how: "created" | "filled" | "overwritten" | "replaced";
  readonly content: NewContent;
  /** Set when text was replaced. */
  readonly replaced: ReplacedText | undefined;
  /** To be added to the answer. */
  readonly warning: string | undefined;
}

/** One call, for deciding on the content of its file. */
export interface EditCall {
  readonly input: SearchReplaceInput;
  readonly path: string;
  readonly context: ToolContext<SearchReplaceParams>;
}

/** Decides what to write, from the content the file has now. No effects. */
export function decideEdit(current: CurrentFile | undefined, call: EditCall): AppliedEdit | EditFailure {
  const staleness = stalenessOf(current, call);
  if (staleness !== undefined && call.context.params.read_before_edit === "enforce") return staleness;
  const warning = staleness === undefined ? undefined : `Warning: ${staleness.text.replace(/^Error: /, "")}`;
  const decision =
    call.input.old_string === "" ? decideWhole(current, call) : decideReplacement(current, call);
  return decision.kind === "failure" ? decision : { ...decision, warning };
}

/** Whether the file was read before, as far as that is asked for. */
function stalenessOf(
  current: CurrentFile | undefined,
  { path, input, context }: EditCall,
): EditFailure | undefined {
  if (context.params.read_before_edit === "off" || current === undefined || current.bytes.length === 0)
    return undefined;
  const state = context
    .resource(fileReadTracker)
    .stateOf({ path, stats: current.stats, sha256: current.sha256 });
  if (state === "unchanged") return undefined;
  const read = context.toolName("read") ?? "the reading tool";
  const failure = {
    kind: "failure",
    variant: "InvalidInput",
    suggestion: `read the file with ${read} first`,
  } as const;
  return state === "never-read"
    ? {
        ...failure,
        code: ErrorCode.FILE_NOT_READ,
        text: `Error: ${input.file_path} was not read in this session; read it with ${read} before editing it.`,
      }
    : {
        ...failure,
        code: ErrorCode.FILE_EXTERNALLY_MODIFIED,
        text: `Error: ${input.file_path} was changed since it was read; read it again with ${read} before editing it.`,
      };
}

function decideWhole(
  current: CurrentFile | undefined,
  { input, context }: EditCall,
): Omit<AppliedEdit, "warning"> | EditFailure {
  const oldName = context.parameterName("old_string");
  const hasContent = current !== undefined && current.bytes.length > 0;
  if (hasContent && context.params.empty_old_string_does_not_override) {
    return {
      kind: "failure",
      variant: "FileAlreadyExists",
      code: ErrorCode.FILE_ALREADY_EXISTS,
      text: `Error: ${input.file_path} exists and has content, which an empty \`${oldName}\` does not overwrite. Put the text to replace into \`${oldName}\`.`,
      legacyText: `Error: ${input.file_path} exists already; an empty \`${oldName}\` only creates files.`,
      suggestion: `put the text to replace into ${oldName}`,
    };
  }
  if (!input.new_string.isWellFormed())
    return matchFailure({ kind: "not-text", field: "newString" }, input, context);
  const how = current === undefined ? "created" : hasContent ? "overwritten" : "filled";
  return { kind: "applied", how, content: wholeContent(current, input.new_string), replaced: undefined };
}

function decideReplacement(
  current: CurrentFile | undefined,
  { input, context }: EditCall,
): Omit<AppliedEdit, "warning"> | EditFailure {
  if (current === undefined) {
    const text = `Error: ${input.file_path} does not exist.`;
    return {
      kind: "failure",
      variant: "FileNotFound",
      code: ErrorCode.FILE_NOT_FOUND,
      text,
      legacyText: text,
    };
  }
  const outcome = replaceText(current.bytes, {
    oldString: input.old_string,
    newString: input.new_string,
    replaceAll: input.replace_all,
    flattensTypography: context.params.unicode_normalized_fallback,
  });
  if (outcome.kind !== "replaced") return matchFailure(outcome, input, context);
  return { kind: "applied", how: "replaced", content: outcome, replaced: outcome };
}
