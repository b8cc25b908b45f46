import { eventsOfOperation, settleNestedCalls } from "../turn/cut-run.ts";
import { LoopEvents } from "../turn/loop-events.ts";
import { cancelQuestions, openQuestions } from "../turn/open-questions.ts";
import type { TurnHost } from "./turn-runner.ts";

/**
 * Gives the calls of programs their results that went on after their turns when the process ended, and settles what they
 * asked.
 */
export async function settleLeftCells({
  parts,
  questions,
}: Pick<TurnHost, "parts" | "questions">): Promise<void> {
  const { bus, operations } = parts;
  for (const left of operations.leftCells()) {
    const { operationId } = left;
    const context = { operationId, scope: "background" as const };
    const published = await eventsOfOperation(bus, left);
    cancelQuestions(questions, openQuestions(published), context);
    settleNestedCalls({ events: new LoopEvents(bus, { agentId: null, context }), published });
    await bus.flush();
    operations.removeLeftCells(operationId);
  }
}
