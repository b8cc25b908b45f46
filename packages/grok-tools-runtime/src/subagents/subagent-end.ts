import { TriviumError } from "@trivium/core";
import { cutToBytes } from "../cut-bytes.ts";
import type { SubagentOutcome } from "./subagent-runner.ts";
import type { SubagentEnd } from "./subagents.ts";

/** What is known of a run besides its outcome. */
export interface RunFacts {
  readonly wasCancelled: boolean;
  readonly measuredMs: number;
  readonly worktreePath: string | undefined;
  /** Cut of the text, in bytes. */
  readonly outputCap: number | undefined;
}

/** The end of a child whose runner has answered. Cancelled wins over success. */
export function endOfOutcome(outcome: SubagentOutcome, facts: RunFacts): SubagentEnd {
  const status =
    facts.wasCancelled || outcome.isCancelled ? "cancelled" : outcome.isSuccess ? "completed" : "failed";
  const { toolCalls, turns, durationMs, totalTokens } = outcome;
  return {
    status,
    output: capOutput(outcome.output, facts.outputCap),
    error: status === "failed" ? outcome.error || "the subagent failed and did not say why" : undefined,
    toolCalls,
    turns,
    durationMs: durationMs > 0 ? durationMs : facts.measuredMs,
    totalTokens,
    worktreePath: facts.worktreePath,
  };
}

/** The end of a child that could not be run to its end. */
export function endOfFailure(thrown: unknown, facts: RunFacts): SubagentEnd {
  const isKnown = TriviumError.isInstance(thrown);
  const isCancelled = facts.wasCancelled || (isKnown && thrown.kind === "cancelled");
  return {
    status: isCancelled ? "cancelled" : "failed",
    output: "",
    // The message of an error that is not ours may hold what nobody should see.
    error: isCancelled ? undefined : isKnown ? thrown.message : "the subagent could not be run",
    toolCalls: 0,
    turns: 0,
    durationMs: facts.measuredMs,
    totalTokens: undefined,
    worktreePath: facts.worktreePath,
  };
}

function capOutput(text: string, cap: number | undefined): string {
  const totalBytes = Buffer.byteLength(text);
  if (cap === undefined || totalBytes <= cap) return text;
  const shown = cutToBytes(text, cap);
  return `${shown}\n[output truncated: ${Buffer.byteLength(shown)} of ${totalBytes} bytes shown]`;
}
