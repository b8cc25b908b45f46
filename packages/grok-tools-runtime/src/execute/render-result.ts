import type { FinalizedToolset } from "../finalized-toolset.ts";
import { encodeOutput } from "../output/encode-output.ts";
import { cutToPreview, estimateTokens, utf8Length } from "../output/truncate.ts";
import type { ToolResult } from "../tool.ts";
import { ToolError } from "../tool-error.ts";
import type { PreparedCall } from "./run-call.ts";
import type { ToolAnswer } from "./tool-answer.ts";

/** A text this many times longer than its tool's cap slipped through the tool and is cut here. */
const BACKSTOP_FACTOR = 4;

/** The answer for what a tool returned: form of the output, logical failures, reminders, size. */
export async function renderResult(
  toolset: FinalizedToolset,
  call: PreparedCall,
  result: ToolResult,
): Promise<{ result: ToolAnswer["result"]; tokens: number; isTruncated: boolean }> {
  const { options } = call;
  const isConcise = options.outputFormat === "concise";
  const text = (isConcise ? result.concisePromptText : undefined) ?? result.promptText;
  const isTooLong = isOverCap(text, call);
  const promptText = isTooLong ? cutToPreview(text) : text;
  const isTruncated = result.truncated === true || isTooLong;
  const form = { byteBuffers: options.byteBuffers ?? "bytes", isConcise, conciseKeys: result.conciseKeys };
  const logicalErrors = options.logicalErrors ?? toolset.scope.settings.logicalErrors;
  if (result.failure !== undefined && logicalErrors === "error") {
    const { code, reason, details, ...rest } = result.failure;
    const output = encodeOutput(result.output, form);
    const error = new ToolError(code, promptText, {
      ...rest,
      detailKind: "logical",
      details: { ...details, ...(reason !== undefined && { reason }), output },
    });
    return { result: { ok: false, error }, tokens: estimateTokens(promptText, 0), isTruncated };
  }
  const { includeFields, excludeFields } = options;
  const output = encodeOutput(result.output, { ...form, includeFields, excludeFields });
  const withReminders =
    result.failure === undefined ? await addReminders(toolset, call, { result, promptText }) : promptText;
  return {
    result: { ok: true, output, promptText: withReminders },
    tokens: estimateTokens(withReminders, result.imageCount ?? 0),
    isTruncated,
  };
}

function isOverCap(text: string, { limits, configured }: PreparedCall): boolean {
  const cap = limits.maxOutput * BACKSTOP_FACTOR;
  // A character has at least one byte, so a short text needs no counting.
  if (text.length * 3 <= cap) return false;
  const size = configured.registered.tool.truncation.unit === "characters" ? text.length : utf8Length(text);
  return size > cap;
}

async function addReminders(
  { remindersEnabled, resources }: FinalizedToolset,
  { callId, configured }: PreparedCall,
  { result, promptText }: { result: ToolResult; promptText: string },
): Promise<string> {
  if (!remindersEnabled) return promptText;
  const texts = await resources.reminders({
    callId,
    toolId: configured.registered.tool.id,
    output: result.output,
  });
  const wrapped = texts.map((text) => `<system-reminder>\n${text}\n</system-reminder>`);
  return [...(promptText === "" ? [] : [promptText]), ...wrapped].join("\n\n");
}
