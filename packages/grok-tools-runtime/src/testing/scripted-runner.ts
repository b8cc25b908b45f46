import type { SubagentOutcome, SubagentRun, SubagentRunner } from "../subagents/subagent-runner.ts";

/** A child that a test ends. */
export interface ScriptedChild {
  readonly run: SubagentRun;
  readonly signal: AbortSignal;
  end(outcome?: Partial<SubagentOutcome>): void;
  fail(error: Error): void;
}

/** Runs children the way a test says; those that are cancelled end at once. */
export interface ScriptedRunner extends SubagentRunner {
  readonly children: ScriptedChild[];
}

/** Makes a {@link ScriptedRunner}. `keepsRunning`: cancelled children do not end by themselves. */
export function scriptedRunner({ keepsRunning = false }: { keepsRunning?: boolean } = {}): ScriptedRunner {
  const children: ScriptedChild[] = [];
  return {
    children,
    run(run, signal) {
      return new Promise((resolve, reject) => {
        const end = (outcome: Partial<SubagentOutcome> = {}): void =>
          resolve({
            isCancelled: false,
            isSuccess: true,
            output: `result of ${run.id}`,
            error: undefined,
            toolCalls: 2,
            turns: 3,
            durationMs: 0,
            totalTokens: undefined,
            ...outcome,
          });
        children.push({ run, signal, end, fail: reject });
        if (!keepsRunning) signal.addEventListener("abort", () => end({ isCancelled: true }), { once: true });
      });
    },
  };
}
