import type { Message } from "../conversation/message.ts";
import { estimateMessages } from "../turn/token-estimate.ts";
import { isMarker } from "./summary-texts.ts";

interface Item {
  readonly message: Message;
}

/** Where the last turn of a view begins: its newest message of a person; 0 when there is none. */
export function turnStart(items: readonly Item[]): number {
  return Math.max(0, items.findLastIndex(isTurnStart));
}

/**
 * Where the part of a view begins that a compaction leaves as it is: as many whole turns as fit into `budgetTokens`,
 * else as many whole steps of the last turn, else its last step or message. A call and its result stay together.
 *
 * @returns at least 1 for a view of two messages or more, unless nothing of it can be cut off
 */
export function tailStart(items: readonly Item[], budgetTokens: number): number {
  const cuts = items.flatMap((_, index) => (index > 0 && isCut(items, index) ? [index] : []));
  const fitting = cuts.filter(
    (index) => estimateMessages(items.slice(index).map(({ message }) => message)) <= budgetTokens,
  );
  const turn = fitting.find((index) => {
    const item = items[index];
    return item !== undefined && isTurnStart(item);
  });
  return turn ?? fitting[0] ?? cuts.at(-1) ?? 0;
}

/** A message of a person, or one that stands for it. Results of calls belong to the step before, skills to their message. */
function isTurnStart({ message }: Item): boolean {
  const { role, origin, content } = message;
  if (role !== "user" || origin === "skill" || isMarker(message)) return false;
  return !content.some(({ type }) => type === "tool_result");
}

/** Nothing before this message has its other half here. */
function isCut(items: readonly Item[], index: number): boolean {
  const item = items[index];
  return item !== undefined && (item.message.role === "assistant" || isTurnStart(item));
}
