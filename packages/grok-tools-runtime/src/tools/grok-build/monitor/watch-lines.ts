import { type Clock, type Logger, sleep } from "@trivium/core";
import type { Command } from "../../../process/command-runner.ts";
import { EventBudget } from "./event-budget.ts";
import { LineBatches } from "./line-batches.ts";

/** A command whose lines become events. */
export interface WatchedCommand {
  readonly running: Command;
  readonly clock: Clock;
  readonly logger: Logger;
  /** Tells of some lines. Must not throw. */
  readonly tell: (text: string) => void;
}

const INTERVAL_MS = 200;
/** Output that is looked at in one step: more than an event can hold. */
const MAX_STEP_BYTES = 64 * 1024;
const STOP_GRACE_MS = 1000;

/**
 * Tells of the lines a command prints, five times a second, until it has ended; its last line is among them. A command
 * that floods its host for half a minute is ended. Never rejects.
 */
export async function watchLines(watched: WatchedCommand): Promise<void> {
  try {
    await new LineWatch(watched).run();
  } catch (error) {
    watched.logger.error({ error }, "the output of a monitor cannot be read");
  }
}

class LineWatch {
  readonly #watched: WatchedCommand;
  readonly #batches = new LineBatches();
  readonly #budget: EventBudget;
  #offset = 0;

  constructor(watched: WatchedCommand) {
    this.#watched = watched;
    this.#budget = new EventBudget(watched.clock.monotonic());
  }

  async run(): Promise<void> {
    const { running, clock } = this.#watched;
    const ended = new AbortController();
    void running.ended.then(() => ended.abort());
    while (!ended.signal.aborted) {
      await sleep(clock, INTERVAL_MS, ended.signal).catch(() => {
        // The command has ended.
      });
      if (!(await this.#step())) return;
    }
    // It may have ended while a step was on its way.
    if (!(await this.#step())) return;
    const rest = this.#batches.flush();
    const count = this.#budget.takeSuppressed();
    const texts = [...(count > 0 ? [suppressedText(count)] : []), ...(rest === "" ? [] : [rest])];
    if (texts.length > 0) this.#watched.tell(texts.join("\n"));
  }

  /** Looks at what is new. False: the command was stopped. */
  async #step(): Promise<boolean> {
    const { running, clock, tell } = this.#watched;
    const announced = running.outputBytes;
    if (announced === this.#offset) return true;
    const bytes = await running.readLog(this.#offset, MAX_STEP_BYTES);
    const text = this.#batches.take(bytes);
    if (this.#offset + bytes.length < announced) this.#batches.skip();
    this.#offset = announced;
    if (text === "") return true;
    const verdict = this.#budget.admit(clock.monotonic());
    if (verdict.kind === "suppress") return true;
    const { suppressedCount } = verdict;
    if (verdict.kind === "tell") {
      tell(suppressedCount > 0 ? `${suppressedText(suppressedCount)}\n${text}` : text);
      return true;
    }
    tell(
      `[the monitor was ended: it printed too much for more than half a minute, and ${suppressedCount} more events were left out. Start it again with a command that prints less, for example through a filter.]`,
    );
    await running.kill("killed", STOP_GRACE_MS);
    return false;
  }
}

function suppressedText(count: number): string {
  return `[${count} earlier ${count === 1 ? "event was" : "events were"} left out: too many at once]`;
}
