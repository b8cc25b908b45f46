import { ErrorCode } from "@trivium/proto/grok-tools";
import type { CurrentFile } from "../../../files/edit-engine/current-file.ts";
import { type EditDetail, editDetails } from "../../../files/edit-engine/edit-details.ts";
import type { NewContent } from "../../../files/edit-engine/edit-engine.ts";
import { parseEditableText } from "../../../files/edit-engine/editable-text.ts";
import { spliceText } from "../../../files/edit-engine/splice.ts";
import { wholeContent } from "../../../files/edit-engine/whole-content.ts";
import type { EditFailure } from "../../grok-build/search-replace/edit-failure.ts";
import { looksAnchored } from "../anchors/parse-anchor.ts";
import type { SchemeParams } from "../anchors/scheme-params.ts";
import { AnchoredFile } from "./anchored-file.ts";
import type { HashlineEditInput } from "./hashline-edit-input.ts";
import { lineChanges } from "./line-changes.ts";
import { invalid } from "./locate-lines.ts";
import { renderChanges } from "./render-changes.ts";
import type { ChangedLines } from "./snippet.ts";

/** An edit that is to be written. */
export interface HashlineEdit {
  readonly kind: "applied";
  readonly content: NewContent;
  readonly details: readonly EditDetail[];
  /** The file as it will be. */
  readonly after: AnchoredFile;
  /** Lines of it that are new, ascending. */
  readonly changed: readonly ChangedLines[];
  /** Lines of the widest replaced range. */
  readonly widestRange: number;
}

const MAX_DETAILS = 5000;

/** Decides what to write, from the content the file has now. No effects. */
export function decideHashlineEdit(
  current: CurrentFile | undefined,
  { file_path: argument, edits }: HashlineEditInput,
  params: SchemeParams,
): HashlineEdit | EditFailure {
  const problem = problemWith(edits);
  if (problem !== undefined) return problem;
  const [first] = edits;
  if (first?.op === "write" && edits.length === 1) return wholeEdit(current, first.content, params);
  if (current === undefined) {
    return {
      kind: "failure",
      variant: "FileNotFound",
      code: ErrorCode.FILE_NOT_FOUND,
      text: `Error: ${argument} does not exist.`,
    };
  }
  const text = parseEditableText(current.bytes);
  if (text === undefined) {
    return { ...invalid(`Error: ${argument} is a binary file and cannot be edited.`), reason: "binary" };
  }
  const file = new AnchoredFile(text, params);
  const changes = lineChanges(edits, file, params);
  if ("kind" in changes) return changes;
  const replacements = renderChanges(changes, file, text);
  const spliced = spliceText(text, replacements);
  let shift = 0;
  const changed = changes.map(({ first: from, last, lines }) => {
    const place = { first: from + shift, last: from + shift + lines.length - 1 };
    shift += lines.length - (last - from + 1);
    return place;
  });
  return {
    kind: "applied",
    content: spliced,
    details: editDetails({ text, replacements, units: spliced.units }, MAX_DETAILS),
    after: new AnchoredFile({ units: spliced.units, encoding: text.encoding }, params),
    changed,
    widestRange: Math.max(0, ...changes.map(({ first: from, last }) => last - from + 1)),
  };
}

function problemWith(edits: HashlineEditInput["edits"]): EditFailure | undefined {
  if (edits.length === 0) return invalid("Error: there are no operations; give at least one.");
  for (const { content } of edits) {
    if (!content.isWellFormed()) return invalid("Error: the content holds half of a surrogate pair.");
    if (looksAnchored(content)) {
      return invalid(
        "Error: the content has anchors in front of its lines. They are not part of the file: leave out everything up to the arrow.",
      );
    }
  }
  return undefined;
}

function wholeEdit(current: CurrentFile | undefined, content: string, params: SchemeParams): HashlineEdit {
  const written = wholeContent(current, content);
  const text = parseEditableText(written.bytes) ?? ({ units: "", encoding: "utf-8" } as const);
  const after = new AnchoredFile(text, params);
  const none = { old_string: "", context_before: "", context_after: "", line_prefix: "" };
  return {
    kind: "applied",
    content: written,
    details: [{ ...none, old_line: 1, new_string: content, new_line: 1 }],
    after,
    changed: [{ first: 1, last: after.count }],
    widestRange: 0,
  };
}
