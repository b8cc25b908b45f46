import type { Child } from "./child.ts";
import type { SubagentEnd } from "./subagents.ts";

/** Ends that wait for a call that tells them. */
const MAX_WAITING = 256;

/** The ends of children that nobody has received yet, for the model. */
export class Completions {
  #waiting: Child[] = [];

  /** Keeps an end; of too many the oldest is forgotten. */
  add(child: Child): void {
    this.#waiting.push(child);
    if (this.#waiting.length > MAX_WAITING) this.#waiting.shift();
  }

  /** Keeps nothing of children that are known no longer. */
  forget(children: readonly Child[]): void {
    if (children.length > 0) this.#waiting = this.#waiting.filter((child) => !children.includes(child));
  }

  /** The children whose end nobody has received meanwhile. They are not given again. */
  takeAll(): Child[] {
    const taken = this.#waiting.filter(({ isDelivered, isHeld }) => !isDelivered && !isHeld);
    // One that somebody waits for now is told by that call, or later.
    this.#waiting = this.#waiting.filter(({ isDelivered, isHeld }) => !isDelivered && isHeld);
    return taken;
  }
}

/** What the model is told about an ended child. */
export function completionText(child: Child, end: SubagentEnd, outputTool: string | undefined): string {
  const counts = `${end.toolCalls} tool calls, ${end.turns} turns`;
  const head = [
    `Subagent ${child.id} (${child.type}: ${child.description}) has ${end.status === "completed" ? "completed" : "failed"} after ${(end.durationMs / 1000).toFixed(1)}s, ${counts}.`,
    ...(end.error === undefined ? [] : [`Error: ${end.error}`]),
  ];
  const result =
    outputTool === undefined ? ["response:", end.output] : [`Get its result with ${outputTool}.`];
  // A result must not end the block it is quoted in.
  return [...head, ...result].join("\n").replaceAll("</system-reminder>", "<\\/system-reminder>");
}
