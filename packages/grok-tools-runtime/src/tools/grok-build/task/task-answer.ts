import { ErrorCode } from "@trivium/proto/grok-tools";
import type { Subagent, SubagentEnd } from "../../../subagents/subagents.ts";
import type { ToolContext, ToolResult } from "../../../tool.ts";
import { ToolError } from "../../../tool-error.ts";

/** Why a call answers before its subagent has ended. */
export type HandOver = "background" | "over-budget";

type AnswerContext = Pick<ToolContext, "configuredTools" | "remindersEnabled">;

/** The answer about a subagent that works on. */
export function workingResult(
  child: Subagent,
  { why, appendsContinueHint }: { why: HandOver; appendsContinueHint: boolean },
  context: AnswerContext,
): ToolResult {
  const head =
    why === "background"
      ? "The subagent works in the background."
      : "The subagent has not ended yet. It works on in the background.";
  const text = [
    head,
    `subagent_id: ${child.id}`,
    `type: ${child.type}`,
    `description: ${child.description}`,
    retrieval(child, context),
    ...(why === "over-budget" && context.remindersEnabled ? ["You will be notified when it ends."] : []),
    ...(appendsContinueHint ? ["Continue your own work meanwhile."] : []),
  ].join("\n");
  return { output: { type: "Text", text }, promptText: text };
}

/** How to get the result, with the names of this session. */
function retrieval({ id }: Subagent, { configuredTools }: AnswerContext): string {
  const tool = configuredTools.find(({ kind }) => kind === "background_task_action");
  if (tool === undefined) return "Its result comes with a later notice.";
  const nameOf = (canonical: string): string => tool.parameterNames?.[canonical] ?? canonical;
  return `Get its result with ${tool.clientName}: ${nameOf("task_ids")} ["${id}"], and ${nameOf("timeout_ms")} to wait for its end.`;
}

/**
 * The answer about a subagent that has ended.
 *
 * @throws {@link ToolError} EXECUTION_FAILED when it failed, CANCELLED when it was cancelled.
 */
export function endedResult(
  child: Subagent,
  end: SubagentEnd,
  { parameterName }: Pick<ToolContext, "parameterName">,
): ToolResult {
  const details = { subagent_id: child.id };
  if (end.status === "cancelled") {
    throw new ToolError(ErrorCode.CANCELLED, `the subagent ${child.id} was cancelled`, { details });
  }
  if (end.status === "failed") {
    throw new ToolError(ErrorCode.EXECUTION_FAILED, end.error ?? `the subagent ${child.id} failed`, {
      details,
    });
  }
  const { output, toolCalls, turns, durationMs, worktreePath } = end;
  const hint = `${parameterName("resume_from")}="${child.id}"`;
  return {
    output: {
      type: "SubagentCompleted",
      output,
      subagent_id: child.id,
      subagent_type: child.type,
      tool_calls: toolCalls,
      turns,
      duration_ms: durationMs,
      worktree_path: worktreePath ?? null,
      persona: null,
      resume_from_hint: child.id,
      persona_hint: null,
    },
    promptText: [
      output,
      ...(worktreePath === undefined ? [] : [`<worktree_path>${worktreePath}</worktree_path>`]),
      "<subagent_result>",
      `subagent_id: ${child.id}`,
      `subagent_type: ${child.type}`,
      `To go on with it: ${hint}`,
      "</subagent_result>",
    ].join("\n"),
  };
}
