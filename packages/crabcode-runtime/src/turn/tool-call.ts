import { type LogFields, linkSignals } from "@trivium/core";
import { cutMiddle } from "../text/cut-middle.ts";
import { wellFormedInput } from "../text/well-formed.ts";
import { failed, type PreparedCall, type Tool, type ToolContext, type ToolOutcome } from "../tools/tool.ts";
import type { LoopDeps } from "./loop-deps.ts";
import type { ModelCall } from "./response-collector.ts";
import { withGrace } from "./with-grace.ts";

const MAX_RESULT_BYTES = 1024 * 1024;

/** Result of every call that an interrupt cut. */
export const interrupted: ToolOutcome = { result: "Interrupted", isError: true };

/** A call of a step on its way to its one result. */
export interface StepCall {
  readonly call: ModelCall;
  /** Undefined when the session has no such tool. */
  readonly tool: Tool | undefined;
  /** Set once the arguments were found in order. */
  prepared: PreparedCall | undefined;
  /** Where its target led when permission was given, symbolic links resolved. */
  targetPath: string | undefined;
  outcome: ToolOutcome | undefined;
  /** What hooks said about it, for the history. */
  readonly feedback: string[];
}

/** Runs one approved call. Never throws: whatever goes wrong is the call's result. */
export async function runCall(deps: LoopDeps, step: StepCall, signal: AbortSignal): Promise<ToolOutcome> {
  const { tool, prepared, call } = step;
  if (tool === undefined || prepared === undefined) return failed(`Error: unknown tool '${call.name}'`);
  if (signal.aborted) return interrupted;
  deps.journal.callStarted(call.toolUseId);
  using limited = linkSignals([signal], {
    timeoutMs: deps.toolCallTimeoutMs === 0 ? undefined : deps.toolCallTimeoutMs,
    clock: deps.clock,
  });
  const running = runPrepared(deps, prepared, { step, signal: limited.signal });
  const outcome = await withGrace(deps, running, limited.signal);
  if (signal.aborted) return interrupted;
  if (limited.signal.aborted)
    return failed(`Error: ${call.name} timed out after ${deps.toolCallTimeoutMs / 1000} s`);
  return limitOutcome(outcome ?? interrupted);
}

async function runPrepared(
  deps: LoopDeps,
  prepared: PreparedCall,
  { step, signal }: { step: StepCall; signal: AbortSignal },
): Promise<ToolOutcome> {
  const { call, targetPath } = step;
  try {
    const toolbox = await deps.workspace.toolbox();
    const { target } = prepared;
    // Another call of the step may have put a link there since the check.
    if (target !== undefined && (await toolbox.resolvePath(target.path)) !== targetPath) {
      return failed(
        `Error: ${target.path} leads to another place than when this call was checked; call again`,
      );
    }
    if (signal.aborted) return interrupted;
    return await prepared.run(toolContext({ deps, call, signal, toolbox, targetPath }));
  } catch (cause) {
    if (!signal.aborted) {
      const fields: LogFields = { tool: call.name, toolUseId: call.toolUseId, cause };
      deps.logger.warn(fields, "a tool failed unexpectedly");
    }
    return failed(`Error: ${cause instanceof Error ? cause.message : "the tool failed"}`);
  }
}

function toolContext({
  deps,
  call,
  signal,
  toolbox,
  targetPath,
}: {
  deps: LoopDeps;
  call: ModelCall;
  signal: AbortSignal;
  toolbox: ToolContext["toolbox"];
  targetPath: string | undefined;
}): ToolContext {
  const { events, workspace, questions, clock } = deps;
  const { toolUseId } = call;
  return {
    toolbox,
    targetPath,
    clock,
    cwd: workspace.cwd,
    environment: workspace.environment,
    toolUseId,
    agentId: events.agentId,
    operationId: deps.operationId,
    isInteractive: deps.isInteractive,
    signal,
    // What an abandoned call still says belongs to no turn.
    emit: (event) => {
      if (!signal.aborted) events.publish(event);
    },
    async askChoice({ question, options, multiple }) {
      const request = {
        type: "choice_request" as const,
        tool_use_id: toolUseId,
        question,
        options,
        multiple,
        agent_id: events.agentId,
      };
      if (!deps.isInteractive) return questions.chooseUnasked(request, events.context);
      return questions.askChoice(request, {
        operation: events.context,
        signal,
        timeoutMs: questionTimeoutMs(deps, toolUseId),
      });
    },
    questionTimeoutSeconds: deps.questionTimeoutMs / 1000,
    cells: deps.cells?.callsOf(deps, { toolUseId, signal }),
    requestMode: (mode) => workspace.requestMode(mode),
  };
}

/** How long a question of a call waits; less for one that waited before a restart. 0 is for ever. */
export function questionTimeoutMs(
  { resumed, questionTimeoutMs: usualMs }: LoopDeps,
  toolUseId: string,
): number {
  return resumed?.waitingId === toolUseId ? resumed.remainingMs : usualMs;
}

/** Well-formed, and the result at most 1 MiB of UTF-8: head and tail stay. */
export function limitOutcome(outcome: ToolOutcome): ToolOutcome {
  const result = cutMiddle(outcome.result.toWellFormed(), MAX_RESULT_BYTES);
  return {
    ...outcome,
    result,
    ...(outcome.display !== undefined && {
      display: cutMiddle(outcome.display.toWellFormed(), MAX_RESULT_BYTES),
    }),
    ...(outcome.data !== undefined && { data: wellFormedInput(outcome.data) }),
  };
}
