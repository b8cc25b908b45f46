import type { CellAnswer, CellOutcome } from "./outcome.ts";
import type { WaitOptions } from "./session-options.ts";

/** A session as far as following one of its cells goes. */
export interface FollowedSession {
  readonly isOver: boolean;
  wait(cellId: string, options: WaitOptions): Promise<CellAnswer>;
  terminate(cellId: string): Promise<unknown>;
}

/** Yields the first outcome and those that follow, to the last. Leaving the loop early terminates the cell. */
export async function* followCell(
  session: FollowedSession,
  first: CellOutcome,
  options: WaitOptions,
): AsyncGenerator<CellOutcome, void> {
  let outcome = first;
  try {
    for (;;) {
      yield outcome;
      if (outcome.state !== "yielded") return;
      ({ outcome } = await session.wait(outcome.cellId, options));
    }
  } finally {
    // A session that is over has terminated it.
    if (outcome.state === "yielded" && !session.isOver) await session.terminate(outcome.cellId);
  }
}
