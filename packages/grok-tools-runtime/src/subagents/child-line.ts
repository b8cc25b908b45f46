import type { Child } from "./child.ts";
import type { SubagentLimits } from "./subagent-limits.ts";

/** The children of a session that run or wait for a place, first come first served. */
export class ChildLine {
  readonly #limits: SubagentLimits;
  readonly #run: (child: Child) => void;
  readonly #waiting: Child[] = [];
  #runningCount = 0;

  /** @param run starts a child; {@link ChildLine.leave} tells when it has ended */
  constructor(limits: SubagentLimits, run: (child: Child) => void) {
    this.#limits = limits;
    this.#run = run;
  }

  /** Nobody else can run now. */
  get isFull(): boolean {
    return this.#runningCount >= this.#limits.maxConcurrent;
  }

  /** Runs a child now or when its turn comes. Those of workflows take no place. */
  enter(child: Child): void {
    if (!isCounted(child)) {
      this.#run(child);
      return;
    }
    this.#waiting.push(child);
    this.#admit();
  }

  /** Takes a child out that waits. False: it does not. */
  giveUp(child: Child): boolean {
    const index = this.#waiting.indexOf(child);
    if (index < 0) return false;
    this.#waiting.splice(index, 1);
    return true;
  }

  /** A child that was run has ended. */
  leave(child: Child): void {
    if (!isCounted(child)) return;
    this.#runningCount -= 1;
    this.#admit();
  }

  #admit(): void {
    while (!this.isFull) {
      const next = this.#waiting.shift();
      if (next === undefined) return;
      this.#runningCount += 1;
      this.#run(next);
    }
  }
}

function isCounted(child: Child): boolean {
  return child.plan.request.owner !== "workflow";
}
