import { failed, type ToolOutcome } from "../tools/tool.ts";
import type { LoopDeps } from "../turn/loop-deps.ts";
import { interrupted, limitOutcome, runCall, type StepCall } from "../turn/tool-call.ts";
import type { HookCall } from "./run-hook.ts";
import { taggedFeedback } from "./session-hooks.ts";

/**
 * Runs one approved call between its hooks. Never throws: what goes wrong is the call's result. What the hooks say is
 * added to `step.feedback`.
 */
export async function runHookedCall(
  deps: LoopDeps,
  step: StepCall,
  signal: AbortSignal,
): Promise<ToolOutcome> {
  const { call, tool } = step;
  // Nothing of an unknown tool runs, so there is nothing to guard.
  if (tool === undefined) return runCall(deps, step, signal);
  const { agentId } = deps.events;
  const about = {
    tool_name: call.name,
    tool_input: call.input,
    tool_use_id: call.toolUseId,
    agent_id: agentId,
  };
  const hookCall = { toolName: call.name, toolUseId: call.toolUseId, agentId, signal };
  const run = async (tag: "pre-tool-call-hook" | "post-tool-call-hook", hook: HookCall) => {
    const verdict = await deps.hooks.run(hook);
    const feedback = taggedFeedback(tag, verdict);
    if (feedback !== undefined) step.feedback.push(feedback);
    return verdict;
  };
  try {
    const before = await run("pre-tool-call-hook", { event: "pre_tool_call", payload: about, ...hookCall });
    if (before.isBlocked) return failed(`Hook blocked tool call: ${before.feedback}`);
    const outcome = await runCall(deps, step, signal);
    if (signal.aborted) return outcome;
    const payload = { ...about, tool_result: outcome.result, tool_is_error: outcome.isError };
    const after = await run("post-tool-call-hook", { event: "post_tool_call", payload, ...hookCall });
    if (!after.isBlocked) return outcome;
    return limitOutcome({ ...outcome, isError: true, result: `${outcome.result}\n${after.feedback}` });
  } catch {
    // Hooks reject with the abort only.
    return interrupted;
  }
}
