import { abortReason, sleep } from "@trivium/core";
import type { ToolContext } from "../tool.ts";
import type { ShellTask } from "./shell-task.ts";

const DEFAULT_MAX_WAIT_MS = 600_000;

/** The longest a call waits for tasks: `GROK_MAX_WAIT_BLOCK_MS` of the server when that is a whole number above 0. */
export function maxWaitMs({ environment }: Pick<ToolContext, "environment">): number {
  const configured = Number(environment["GROK_MAX_WAIT_BLOCK_MS"] ?? "");
  return Number.isSafeInteger(configured) && configured > 0 ? configured : DEFAULT_MAX_WAIT_MS;
}

/** What to wait for. */
export interface TaskWaitOptions {
  readonly mode: "wait_all" | "wait_any";
  readonly timeoutMs: number;
  /** Ends of other work that is waited for alike. */
  readonly others?: readonly Promise<unknown>[];
}

/**
 * Waits until all of the tasks, or any one of them, have ended, at most `timeoutMs`. Tasks that ended before count.
 *
 * @throws the reason of the call's signal when it aborts first.
 */
export async function waitForTasks(
  tasks: readonly ShellTask[],
  { mode, timeoutMs, others = [] }: TaskWaitOptions,
  { clock, signal }: Pick<ToolContext, "clock" | "signal">,
): Promise<void> {
  const ends = [...tasks.map((task) => task.finished), ...others];
  if (ends.length === 0 || timeoutMs <= 0) return;
  for (const task of tasks) task.waiterCount += 1;
  const waiting = new AbortController();
  const onAbort = (): void => waiting.abort();
  signal.addEventListener("abort", onAbort, { once: true });
  if (signal.aborted) waiting.abort();
  try {
    await Promise.race([
      mode === "wait_all" ? Promise.all(ends) : Promise.race(ends),
      sleep(clock, timeoutMs, waiting.signal).catch(() => {
        // Not needed any more, or the call was cancelled: told apart below.
      }),
    ]);
    if (signal.aborted) throw abortReason(signal);
  } finally {
    for (const task of tasks) task.waiterCount -= 1;
    signal.removeEventListener("abort", onAbort);
    waiting.abort();
  }
}
