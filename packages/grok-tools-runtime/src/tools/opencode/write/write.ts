import { ErrorCode } from "@trivium/proto/grok-tools";
import { z } from "zod";
import type { CurrentFile } from "../../../files/edit-engine/current-file.ts";
import { wholeContent } from "../../../files/edit-engine/whole-content.ts";
import { fileReadTracker } from "../../../files/file-read-tracker.ts";
import { decodeFile } from "../../../files/text-encoding.ts";
import { utf8Length } from "../../../output/truncate.ts";
import { defineTool, type Tool, type ToolResult } from "../../../tool.ts";
import { acceptTwins } from "../accept-twins.ts";
import { type ChangeContext, type ChangedFile, type ChangeRefusal, changeFile } from "../change-file.ts";
import { openCodeEditParams } from "../edit-params.ts";
import { editedOutput } from "../edited-output.ts";

const MAX_CONTENT_BYTES = 10 * 1024 * 1024;
/** A longer old text is left out of the answer. */
const MAX_OLD_BYTES = 256 * 1024;

interface WriteInput {
  readonly file_path: string;
  readonly content: string;
}

/** OpenCode:write: writes a whole file. */
export const write: Tool = acceptTwins(
  defineTool({
    id: "OpenCode:write",
    kind: "write",
    capabilities: { readOnly: false },
    description: ({ params }) => `Writes a whole file and makes its folders. An existing file is overwritten.

- Change a part of a file with \${{ tools.by_kind.edit }} instead.
- The content is written as it is, without a line end added.${
      params.require_read ? "\n- Read an existing file before you overwrite it." : ""
    }`,
    input: z.object({
      file_path: z.string().describe("Path of the file, absolute or relative to the working directory."),
      content: z.string().describe("The whole content. May be empty."),
    }),
    params: openCodeEditParams,
    output: editedOutput,
    resources: [fileReadTracker],
    run: runWrite,
  }),
  { file_path: "filePath" },
);

async function runWrite(input: WriteInput, context: ChangeContext): Promise<ToolResult> {
  const outcome = await changeFile<CurrentFile | undefined>(
    {
      filePath: input.file_path,
      check: () => problemWith(input, context),
      plan: (current) => ({ kind: "plan", content: wholeContent(current, input.content), facts: current }),
    },
    context,
  );
  return outcome.kind === "refused" ? outcome.result : written(input, outcome);
}

function problemWith({ content }: WriteInput, { parameterName }: ChangeContext): ChangeRefusal | undefined {
  const name = parameterName("content");
  const invalid = { kind: "refusal", variant: "InvalidInput", code: ErrorCode.INVALID_INPUT } as const;
  if (!content.isWellFormed()) {
    const text = `Error: \`${name}\` holds half of a surrogate pair, which is no text that a file can hold.`;
    return { ...invalid, text };
  }
  const bytes = utf8Length(content);
  if (bytes <= MAX_CONTENT_BYTES) return undefined;
  return {
    ...invalid,
    text: `Error: \`${name}\` has ${bytes} bytes, at most ${MAX_CONTENT_BYTES} are written.`,
    reason: "too_large",
  };
}

function written({ content }: WriteInput, changed: ChangedFile<CurrentFile | undefined>): ToolResult {
  const { path, receipt, facts: old } = changed;
  const isLong = old !== undefined && old.bytes.length > MAX_OLD_BYTES;
  const oldText = old === undefined || isLong ? "" : decodeFile(old.bytes);
  const prompt =
    old === undefined ? `The file ${path} has been created.` : `Wrote ${path}; its old content is replaced.`;
  return {
    output: {
      type: "SearchReplace",
      EditsApplied: {
        ...(isLong ? { old_string_truncated: true } : { old_string: oldText }),
        new_string: content,
        tool_output_for_prompt: prompt,
        tool_output_for_prompt_concise: prompt,
        absolute_path: path,
        edits: {
          details: [
            {
              old_string: oldText,
              old_line: 1,
              new_string: content,
              new_line: 1,
              context_before: "",
              context_after: "",
              line_prefix: "",
            },
          ],
        },
        receipt: { ...receipt },
      },
    },
    promptText: prompt,
    concisePromptText: prompt,
  };
}
