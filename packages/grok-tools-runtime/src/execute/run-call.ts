import { abortReason, linkSignals } from "@trivium/core";
import { ErrorCode } from "@trivium/proto/grok-tools";
import { toModelPath } from "../files/model-path.ts";
import { resolveTarget } from "../files/resolve-target.ts";
import type { ConfiguredTool } from "../finalize/configured-tool.ts";
import { outputLimits } from "../finalize/output-limits.ts";
import { currentParams, type FinalizedToolset, snapshotState } from "../finalized-toolset.ts";
import type { JsonObject } from "../json.ts";
import { estimateTokens } from "../output/truncate.ts";
import { authorisedSubagents } from "../subagents/authorised-subagents.ts";
import type { ToolContext, ToolLimits, ToolResult } from "../tool.ts";
import { ToolError } from "../tool-error.ts";
import { resolveCallDirectory } from "./call-directory.ts";
import type { CallOptions } from "./call-options.ts";
import { findTool } from "./find-tool.ts";
import { parseInput } from "./parse-input.ts";
import { ProgressReporter } from "./progress-reporter.ts";
import { renderResult } from "./render-result.ts";
import { settleWithin } from "./settle-within.ts";
import { toToolError } from "./to-tool-error.ts";
import type { ToolAnswer } from "./tool-answer.ts";

/** One call after its options were checked. */
export interface Call {
  readonly callId: string;
  readonly toolName: string;
  /** JSON text or the object; names as the caller uses them. */
  readonly input: JsonObject | string;
  readonly options: CallOptions;
}

/** Time a tool has to end after its signal aborted before the answer goes out without it. */
const GRACE_MS = 900;
/** How much longer the dispatcher waits when the tool applies the time-out itself. */
const OWN_TIMEOUT_MARGIN_MS = 1_000;

/**
 * Runs one call through all stages. Failures that a model can react to are answers.
 *
 * @throws the reason of `options.signal` when the caller cancels.
 */
export async function runCall(toolset: FinalizedToolset, call: Call): Promise<ToolAnswer> {
  const { clock, logger } = toolset.scope;
  const startedMs = clock.monotonic();
  let configured: ConfiguredTool | undefined;
  const answer = (
    result: ToolAnswer["result"],
    run?: { tokens: number; isTruncated: boolean },
  ): ToolAnswer => ({
    callId: call.callId,
    result,
    metadata: {
      durationMs: Math.max(0, Math.floor(clock.monotonic() - startedMs)),
      estimatedTokens: run?.tokens ?? (result.ok ? 0 : estimateTokens(result.error.message, 0)),
      isTruncated: run?.isTruncated ?? false,
      toolVersion: toolset.toolVersion,
      contractVersion: configured?.behaviorVersion ?? "",
    },
  });
  try {
    configured = findTool(toolset, call.toolName);
    const prepared = prepare(toolset, configured, call);
    const result = await dispatch(toolset, prepared);
    const rendered = await renderResult(toolset, prepared, result);
    const answered = answer(rendered.result, rendered);
    logger.debug({ callId: call.callId, tool: call.toolName, ...answered.metadata }, "a tool was called");
    return answered;
  } catch (thrown) {
    if (isReasonOf(call.options.signal, thrown)) throw thrown;
    return answer({
      ok: false,
      error: toToolError(thrown, configured?.registered.tool.id ?? call.toolName, logger),
    });
  } finally {
    // A failed call may have changed state too.
    if (configured !== undefined) toolset.stateFile.schedule(() => snapshotState(toolset));
  }
}

/** A call whose tool, input and limits are known. */
export interface PreparedCall extends Call {
  readonly configured: ConfiguredTool;
  readonly canonicalInput: JsonObject;
  readonly params: unknown;
  readonly limits: ToolLimits;
  /** Given to the tool instead of being applied around it. */
  readonly ownTimeoutMs: number | undefined;
}

function prepare(toolset: FinalizedToolset, configured: ConfiguredTool, call: Call): PreparedCall {
  const { registered, clientName } = configured;
  const { tool } = registered;
  const canonicalInput = parseInput(configured, call.input, call.options.background === true);
  const params = tool.params?.schema.parse(currentParams(toolset, configured));
  const { timeoutParameter } = tool.capabilities;
  const isOwnTimeout = timeoutParameter !== undefined && (canonicalInput[timeoutParameter] ?? null) === null;
  return {
    ...call,
    configured,
    canonicalInput,
    params,
    limits: outputLimits(registered, clientName, { params, truncation: toolset.truncation }),
    ownTimeoutMs: isOwnTimeout ? call.options.timeoutMs : undefined,
  };
}

async function dispatch(toolset: FinalizedToolset, call: PreparedCall): Promise<ToolResult> {
  const { scope, gate } = toolset;
  const { options, ownTimeoutMs, configured } = call;
  const { tool } = configured.registered;
  const timeoutMs = ownTimeoutMs === undefined ? options.timeoutMs : ownTimeoutMs + OWN_TIMEOUT_MARGIN_MS;
  using link = linkSignals([options.signal, scope.sessionSignal], { timeoutMs, clock: scope.clock });
  const { signal } = link;
  try {
    const workingDirectory = await resolveCallDirectory(options.workingDirectory, scope);
    const refusal = toolset.resources.refusal({
      toolId: tool.id,
      kind: tool.kind,
      readOnly: tool.capabilities.readOnly,
      input: call.canonicalInput,
      workingDirectory,
    });
    if (refusal !== undefined) throw refusal;
    await authorise(call, scope, { signal, workingDirectory });
    signal.throwIfAborted();
    const pass = await gate.enter(
      tool.capabilities.unlimitedCalls === true ? "uncounted" : "counted",
      signal,
    );
    const reporter = new ProgressReporter(call, scope.logger);
    const context = { ...toContext(toolset, call, { signal, workingDirectory }), progress: reporter.report };
    const running = tool.run(call.canonicalInput, context);
    const onEnd = (): void => {
      reporter.stop();
      // The place is free again when the tool has ended, which can be later than the answer.
      pass[Symbol.dispose]();
    };
    running.then(onEnd, onEnd);
    // A tool that had its own time-out and a second more has had its time to end.
    const isTimeout = (): boolean =>
      !isReasonOf(options.signal, signal.reason) && !isReasonOf(scope.sessionSignal, signal.reason);
    const graceMs = (): number => (ownTimeoutMs !== undefined && isTimeout() ? 0 : GRACE_MS);
    const result = await settleWithin(running, { signal, graceMs, clock: scope.clock });
    if (!signal.aborted) return result;
  } catch (thrown) {
    if (!signal.aborted) throw thrown;
  }
  throw reasonOfAbort(toolset, call, signal);
}

/** @throws {@link ToolError} PERMISSION_DENIED when the caller's own check refuses the call. */
async function authorise(
  { callId, options, configured, canonicalInput }: PreparedCall,
  { homeDirectory }: FinalizedToolset["scope"],
  { signal, workingDirectory }: { readonly signal: AbortSignal; readonly workingDirectory: string },
): Promise<void> {
  const { clientName, registered } = configured;
  const reason = await options.authorise?.({
    callId,
    signal,
    toolName: clientName,
    kind: registered.tool.kind,
    isReadOnly: registered.tool.capabilities.readOnly,
    input: canonicalInput,
    workingDirectory,
    resolvePath: (path) => resolveTarget(toModelPath(path, { workingDirectory, homeDirectory }).path),
  });
  if (reason === undefined) return;
  throw new ToolError(ErrorCode.PERMISSION_DENIED, reason, { details: { reason: "not_authorised" } });
}

/** Who ended the call decides what it is answered with. */
function reasonOfAbort(
  { scope }: FinalizedToolset,
  { options, toolName }: PreparedCall,
  signal: AbortSignal,
): Error {
  const reason = abortReason(signal);
  if (isReasonOf(options.signal, reason)) return reason;
  if (isReasonOf(scope.sessionSignal, reason)) {
    return new ToolError(ErrorCode.CANCELLED, `${toolName} was cancelled: the session has ended`, {
      details: { reason: "session_closed" },
    });
  }
  return new ToolError(ErrorCode.TIMEOUT, `${toolName} had no result within ${options.timeoutMs} ms`, {
    suggestion: "Try again with a longer time-out, or with less to do.",
  });
}

/** Whether a signal is what ended the call. A reason that is no Error travels wrapped. */
function isReasonOf(signal: AbortSignal | undefined, thrown: unknown): boolean {
  if (signal?.aborted !== true) return false;
  const reason: unknown = signal.reason;
  if (reason === thrown) return true;
  return !(reason instanceof Error) && thrown instanceof DOMException && thrown.message === String(reason);
}

function toContext(
  toolset: FinalizedToolset,
  call: PreparedCall,
  run: { signal: AbortSignal; workingDirectory: string },
): Omit<ToolContext<unknown>, "progress"> {
  const { configured, callId, params, limits, ownTimeoutMs } = call;
  const names = configured.parameterNames;
  return {
    ...toolset.scope,
    ...run,
    subagents: authorisedSubagents(toolset.scope.subagents, call.options.authorise),
    callId,
    params,
    limits,
    behaviorVersion: configured.behaviorVersion,
    timeoutMs: ownTimeoutMs,
    promptId: call.options.promptId,
    choiceAsker: call.options.choiceAsker,
    authorise: call.options.authorise,
    touched: (file) => toolset.resources.fileTouched({ ...file, callId }),
    remindersEnabled: toolset.remindersEnabled,
    parameterName: (canonical) =>
      Object.hasOwn(names, canonical) ? (names[canonical] ?? canonical) : canonical,
    logger: toolset.scope.logger.child({ callId, toolId: configured.registered.tool.id }),
  };
}
