import { decodeFile } from "../../../files/text-encoding.ts";
import type { OutputValue, ToolResult } from "../../../tool.ts";
import type { PlannedFile } from "./plan-patch.ts";

/** Bytes of old and new texts in an answer; an answer must fit into one message. */
const MAX_TEXT_BYTES = 6 * 1024 * 1024;

const letters = { added: "A", modified: "M", moved: "M", deleted: "D" } as const;

/** The answer for a patch that was applied. */
export function patchResult(files: readonly PlannedFile[]): ToolResult {
  const lines = files.map(({ action, target }) => `${letters[action]} ${target.named}\n`);
  const prompt = `${headline(files)}\n${lines.join("")}`;
  let leftBytes = MAX_TEXT_BYTES;
  const described = files.map((file) => {
    const sizeBytes = (file.before?.length ?? 0) + (file.after?.length ?? 0);
    const hasTexts = sizeBytes <= leftBytes;
    if (hasTexts) leftBytes -= sizeBytes;
    return describe(file, hasTexts);
  });
  return {
    output: { type: "ApplyPatch", Success: { files: described, tool_output_for_prompt: prompt } },
    promptText: prompt,
  };
}

/** Names the places where the model's idea of a file was not quite right. */
function headline(files: readonly PlannedFile[]): string {
  const loose = files.filter(({ fuzz = 1 }) => fuzz > 1).map(({ target }) => target.named);
  const ambiguous = files.filter(({ isAmbiguous }) => isAmbiguous === true).map(({ target }) => target.named);
  return [
    `Success. The patch was applied to ${files.length === 1 ? "1 file" : `${files.length} files`}.`,
    ...(loose.length === 0
      ? []
      : [`Lines were found only without regard to white space or typographic characters: ${unique(loose)}.`]),
    ...(ambiguous.length === 0
      ? []
      : [`Old lines occur several times, and the first place was taken: ${unique(ambiguous)}.`]),
  ].join(" ");
}

function unique(names: readonly string[]): string {
  return [...new Set(names)].join(", ");
}

function describe(file: PlannedFile, hasTexts: boolean): OutputValue {
  const { action, target, destination, before, after, fuzz, isAmbiguous, receipt } = file;
  return {
    path: target.named,
    action,
    ...(hasTexts && before !== undefined && { old_text: decodeFile(before) }),
    new_text: hasTexts && after !== undefined ? decodeFile(after) : "",
    ...(destination !== undefined && { move_to: destination.named }),
    ...(fuzz !== undefined && { fuzz }),
    ...(isAmbiguous === true && { ambiguous: true }),
    ...(!hasTexts && { texts_omitted: true }),
    ...(receipt !== undefined && { receipt: { ...receipt } }),
  };
}
