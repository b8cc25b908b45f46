import { create } from "@bufbuild/protobuf";
import type { HandlerContext } from "@connectrpc/connect";
import type { CellOutcome, ExecuteOptions, Execution } from "@trivium/code-mode-runtime";
import { abortReason } from "@trivium/core";
import { type ExecuteEvent, ExecuteEventSchema, type ExecuteRequest } from "@trivium/proto/code-mode";
import { requireId } from "./identifiers.ts";
import { toNumber } from "./numbers.ts";
import { type CodeModeServiceDeps, requireSession } from "./service-deps.ts";
import { toToolDefinitions } from "./tool-definitions.ts";
import { whenAborted } from "./when-aborted.ts";
import { toWireOutcome } from "./wire-outcome.ts";

/**
 * Execute: `started`, then one outcome. A stream that its client ends before the outcome terminates the cell; one
 * whose session ends before it finishes without an outcome.
 */
export async function* execute(
  { runtime }: CodeModeServiceDeps,
  request: ExecuteRequest,
  { signal }: Pick<HandlerContext, "signal">,
): AsyncGenerator<ExecuteEvent> {
  const session = requireSession(runtime, request.sessionId);
  const execution = session.execute(toExecuteOptions(request));
  using _ = whenAborted(signal, () => execution.abandon());
  let isAnswered = false;
  try {
    const { executionId, cellId } = execution;
    yield create(ExecuteEventSchema, { event: { case: "started", value: { executionId, cellId } } });
    const outcome = await outcomeOf(execution, signal);
    isAnswered = true;
    if (outcome === undefined) return;
    yield create(ExecuteEventSchema, { event: { case: "outcome", value: toWireOutcome(outcome) } });
  } finally {
    if (!isAnswered) execution.abandon();
  }
}

/** An outcome that its client cannot see any more is no outcome. */
async function outcomeOf(execution: Execution, signal: AbortSignal): Promise<CellOutcome | undefined> {
  const outcome = await execution.outcome.catch((thrown: unknown) => {
    throw signal.aborted ? abortReason(signal) : thrown;
  });
  if (signal.aborted) throw abortReason(signal);
  return outcome;
}

function toExecuteOptions(request: ExecuteRequest): ExecuteOptions {
  return {
    executionId: requireId("execution_id", request.executionId),
    callId: requireId("tool_call_id", request.toolCallId),
    source: request.source,
    tools: toToolDefinitions(request.enabledTools),
    catalogRevision: request.catalogRevision,
    yieldTimeMs: toNumber(request.yieldTimeMs),
    maxOutputTokens: toNumber(request.maxOutputTokens),
  };
}
