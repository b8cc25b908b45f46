import { ErrorCode } from "@trivium/proto/grok-tools";
import { accessFailureOf } from "../../../files/access-failure.ts";
import { missingPathText } from "../../../files/path-suggestions.ts";
import { readableRoots } from "../../../files/session-roots.ts";
import type { LogicalFailure, ToolContext, ToolResult } from "../../../tool.ts";

/** The answer for a read that failed. */
export function readFailure(text: string, failure: LogicalFailure): ToolResult {
  return { output: { type: "ReadFile", FileReadError: text }, promptText: text, failure };
}

/** The answer for a wrong parameter, or for a content that cannot be shown. */
export function invalidRead(
  text: string,
  more: Pick<LogicalFailure, "filePath" | "reason"> = {},
): ToolResult {
  return readFailure(`Error: ${text}`, { code: ErrorCode.INVALID_INPUT, ...more });
}

/**
 * The answer for a file that cannot be opened.
 *
 * @throws the error itself when it is the reason of the signal.
 */
export async function accessFailure(
  thrown: unknown,
  path: string,
  context: ToolContext<unknown>,
): Promise<ToolResult> {
  const { code, reason } = accessFailureOf(thrown, context.signal);
  const failure = { code, reason, filePath: path };
  if (code === ErrorCode.FILE_NOT_FOUND && reason === undefined) {
    const scope = { ...context, roots: readableRoots(context), hints: context.settings.pathHints };
    return readFailure(await missingPathText({ path, argument: path, display: path }, scope), failure);
  }
  return readFailure(`Error: ${path} cannot be read: ${whyNot(thrown, reason, code)}`, failure);
}

function whyNot(thrown: unknown, reason: string | undefined, code: ErrorCode): string {
  if (reason === "outside_roots") return "it is outside the allowed folders";
  if (reason === "is_a_directory") return "it is a directory, not a file";
  if (code === ErrorCode.PERMISSION_DENIED) return "permission denied";
  return thrown instanceof Error ? thrown.message : "unknown cause";
}
