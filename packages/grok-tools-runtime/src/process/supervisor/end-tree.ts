import { setTimeout as delay } from "node:timers/promises";
import { nameOf } from "./process-table.ts";
import { type ProcessTree, trySignal } from "./process-tree.ts";

export interface EndTreeOptions {
  /** Time between SIGTERM and SIGKILL. 0 leaves SIGTERM out. */
  readonly graceMs: number;
  /** Group that gets SIGTERM besides the members. */
  readonly groupId: number | undefined;
  /** Name of processes that get no SIGTERM. With it the group as a whole gets none. */
  readonly wrapper: string | undefined;
  /** Cuts the grace short. */
  readonly hurry: AbortSignal;
}

const KILL_LIMIT_MS = 5000;

/** Ends every process of a tree: asks, waits, kills. Resolves when nothing is left or nothing more can be done. */
export async function endTree(tree: ProcessTree, options: EndTreeOptions): Promise<void> {
  const { graceMs, groupId, wrapper, hurry } = options;
  if (graceMs > 0 && !hurry.aborted) {
    if (groupId !== undefined && wrapper === undefined) trySignal(-groupId, "SIGTERM");
    const members = tree.members().filter((pid) => wrapper === undefined || nameOf(pid) !== wrapper);
    for (const pid of members) trySignal(pid, "SIGTERM");
    // A stopped process would take note of SIGTERM only when it runs again.
    for (const pid of members) trySignal(pid, "SIGCONT");
    const deadline = performance.now() + graceMs;
    let stepMs = 2;
    while (!tree.isEmpty() && !hurry.aborted && performance.now() < deadline) {
      await delay(Math.min(stepMs, Math.max(1, deadline - performance.now())), undefined, {
        signal: hurry,
      }).catch(() => {
        // Hurried: the loop ends by its condition.
      });
      stepMs = Math.min(stepMs * 2, 25);
    }
  }
  tree.killAll(KILL_LIMIT_MS);
}
