import type { OutputValue, ToolResult } from "../../tool.ts";

const TWIN_SUFFIX = "_concise";

/** Puts the `*_concise` twins of a payload in place of the keys they belong to, and the concise text in place of the text. */
export function conciseResult(result: ToolResult, variant: string): ToolResult {
  const { concisePromptText, ...rest } = result;
  const promptText = concisePromptText ?? result.promptText;
  const payload = result.output[variant];
  if (!isPayload(payload)) return { ...rest, promptText };
  const kept = Object.entries(payload)
    .filter(([key]) => !key.endsWith(TWIN_SUFFIX))
    .map(([key, value]): [string, OutputValue | undefined] => [key, payload[key + TWIN_SUFFIX] ?? value]);
  return { ...rest, promptText, output: { ...result.output, [variant]: Object.fromEntries(kept) } };
}

function isPayload(
  value: OutputValue | undefined,
): value is { readonly [key: string]: OutputValue | undefined } {
  return (
    typeof value === "object" && value !== null && !Array.isArray(value) && !(value instanceof Uint8Array)
  );
}
