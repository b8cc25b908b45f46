import { dirname } from "node:path";
import { abortable } from "@trivium/core";
import type { PermissionDecision, PermissionSubject } from "../gates/permission-policy.ts";
import { runHookedCall } from "../hooks/hooked-call.ts";
import { isInside } from "../paths/is-inside.ts";
import {
  type CallTarget,
  failed,
  type InputProblem,
  type PreparedCall,
  type Tool,
  type ToolOutcome,
} from "../tools/tool.ts";
import type { LoopDeps } from "./loop-deps.ts";
import type { ModelCall } from "./response-collector.ts";
import { interrupted, questionTimeoutMs, type StepCall } from "./tool-call.ts";

/**
 * Takes the calls of one step to their results: all arguments are checked, then permission is asked for one
 * call after the other, then the approved ones run. Each call gets exactly one `tool_result`, also when the
 * signal aborts.
 */
export async function runToolPhase(
  deps: LoopDeps,
  calls: readonly ModelCall[],
  signal: AbortSignal,
): Promise<StepCall[]> {
  const phase = new ToolPhase(deps, calls, signal);
  using _announced = deps.questions.announce(
    deps.events.agentId,
    calls.map(({ toolUseId }) => toolUseId),
  );
  try {
    phase.validate();
    const approved = await phase.askPermissions();
    if (approved.length > 0 && !signal.aborted) await phase.execute(approved);
  } finally {
    phase.interruptOpen();
  }
  return phase.steps;
}

/** Publishes the one result of a call. */
export function publishResult(deps: Pick<LoopDeps, "events">, call: ModelCall, outcome: ToolOutcome): void {
  deps.events.publish({
    type: "tool_result",
    tool_use_id: call.toolUseId,
    tool_name: call.name,
    result: outcome.result,
    is_error: outcome.isError,
    result_for_display: outcome.display ?? null,
    tool_input: call.input,
    agent_id: deps.events.agentId,
  });
}

class ToolPhase {
  readonly steps: readonly StepCall[] & StepCall[];
  readonly #deps: LoopDeps;
  readonly #signal: AbortSignal;

  constructor(deps: LoopDeps, calls: readonly ModelCall[], signal: AbortSignal) {
    this.#deps = deps;
    this.#signal = signal;
    this.steps = calls.map((call) => ({
      call,
      tool: deps.tools.find(call.name),
      prepared: undefined,
      targetPath: undefined,
      outcome: deps.resumed?.outcomes.get(call.toolUseId),
      feedback: [],
    }));
  }

  validate(): void {
    for (const step of this.steps) {
      const { call, tool } = step;
      if (step.outcome !== undefined) continue;
      if (call.problem !== undefined) {
        this.#settle(step, failed(`Validation error: ${call.problem}`));
      } else if (tool !== undefined) {
        const prepared = this.#prepare(tool, call);
        if ("problem" in prepared) this.#settle(step, failed(`Validation error: ${prepared.problem}`));
        else step.prepared = prepared;
      }
    }
  }

  /** The calls that may run, in call order. Refusals are reported here, before anything runs. */
  async askPermissions(): Promise<StepCall[]> {
    const approved: StepCall[] = [];
    for (const step of this.steps) {
      if (this.#signal.aborted) break;
      if (step.outcome !== undefined) continue;
      // An unknown tool fails when it runs; there is nothing to ask about.
      const refusal = step.tool === undefined ? undefined : await this.#refusal(step);
      if (this.#signal.aborted) break;
      if (refusal === undefined) approved.push(step);
      else this.#settle(step, failed(refusal));
    }
    return approved;
  }

  /** Concurrency-safe calls together, the others one by one in call order. */
  async execute(approved: readonly StepCall[]): Promise<void> {
    this.#deps.events.mode("tool-running");
    const together = approved.filter(({ tool }) => tool === undefined || tool.isConcurrencySafe);
    const running = together.map((step) => ({
      step,
      outcome: runHookedCall(this.#deps, step, this.#signal),
    }));
    for (const { step, outcome } of running) this.#settle(step, await outcome);
    for (const step of approved) {
      if (step.outcome !== undefined || this.#signal.aborted) continue;
      this.#settle(step, await runHookedCall(this.#deps, step, this.#signal));
    }
  }

  interruptOpen(): void {
    for (const step of this.steps) if (step.outcome === undefined) this.#settle(step, interrupted);
  }

  #prepare(tool: Tool, call: ModelCall): PreparedCall | InputProblem {
    try {
      return tool.prepare(call.input, { mode: this.#deps.mode });
    } catch (cause) {
      this.#deps.logger.warn(
        { tool: call.name, toolUseId: call.toolUseId, cause },
        "arguments were not checked",
      );
      return { problem: "the arguments could not be checked" };
    }
  }

  #settle(step: StepCall, outcome: ToolOutcome): void {
    step.outcome = outcome;
    publishResult(this.#deps, step.call, outcome);
  }

  #wasApproved({ call }: StepCall): boolean {
    return this.#deps.resumed?.approved.has(call.toolUseId) === true;
  }

  /** Why a call must not run; undefined when it may. */
  async #refusal(step: StepCall): Promise<string | undefined> {
    const { policy } = this.#deps;
    let subject: PermissionSubject;
    try {
      subject = await abortable(this.#subjectOf(step), this.#signal);
    } catch (cause) {
      return `Permission denied: the target could not be checked (${cause instanceof Error ? cause.message : "unknown"})`;
    }
    const decision = policy.decide(subject);
    if (decision.behavior === "allow") return undefined;
    if (decision.behavior === "deny") return denied(decision);
    if (this.#wasApproved(step)) return undefined;
    const isNeeded = (): boolean => policy.decide(subject).behavior === "ask";
    const refusal = await this.#ask(step, decision, isNeeded);
    if (refusal !== undefined) return refusal;
    // Plan mode may have begun while the question was open; no answer overrides it.
    const last = policy.decide(subject);
    return last.behavior === "deny" ? denied(last) : undefined;
  }

  /** What is decided about; where its target leads is looked up once. */
  async #subjectOf(step: StepCall): Promise<PermissionSubject> {
    const { call, tool, prepared } = step;
    const target = await this.#resolveTarget(prepared?.target);
    step.targetPath = target?.path;
    return {
      tool: call.name,
      isReadOnly: tool?.isReadOnly === true,
      input: call.input,
      targetPath: target?.path,
      outsideFolder: target?.outsideFolder,
      opinion: prepared?.opinion,
    };
  }

  async #resolveTarget(
    written: CallTarget | undefined,
  ): Promise<{ path: string; outsideFolder: string | undefined } | undefined> {
    if (written === undefined) return undefined;
    const { workspace } = this.#deps;
    const toolbox = await workspace.toolbox();
    const path = await toolbox.resolvePath(written.path);
    const roots = [workspace.cwd, ...workspace.additionalDirectories];
    if (roots.some((root) => isInside(root, path))) return { path, outsideFolder: undefined };
    return { path, outsideFolder: written.isFolder ? path : dirname(path) };
  }

  async #ask(
    { call }: StepCall,
    { key, reason }: PermissionDecision,
    isNeeded: () => boolean,
  ): Promise<string | undefined> {
    const { questions, events, policy, isInteractive } = this.#deps;
    const request = {
      type: "permission_request" as const,
      tool_name: call.name,
      tool_input: call.input,
      tool_use_id: call.toolUseId,
      reason: reason ?? null,
      permission_key: key,
      agent_id: events.agentId,
      request_kind: "tool" as const,
    };
    const verdict = isInteractive
      ? await questions.askPermission(request, {
          operation: events.context,
          signal: this.#signal,
          timeoutMs: questionTimeoutMs(this.#deps, call.toolUseId),
          isNeeded,
          onAlwaysAllow: () => policy.grant(key),
        })
      : questions.refuseUnasked(request, events.context);
    if (verdict.isAllowed) return undefined;
    if (verdict.resolution === "expired") {
      return `Permission denied: no answer within ${this.#deps.questionTimeoutMs / 1000} s`;
    }
    if (verdict.resolution === "auto") return "Permission denied: nobody can be asked in this session";
    const said =
      verdict.feedback === undefined || verdict.feedback === "" ? "" : ` They said: ${verdict.feedback}`;
    return `Permission denied by the user.${said} Do not repeat this call; explain what you wanted to do, or ask how to go on.`;
  }
}

function denied({ reason }: PermissionDecision): string {
  return `Permission denied: ${reason ?? "denied by the settings"}`;
}
