import { constants } from "node:os";
import type { Clock } from "@trivium/core";
import type { Command, CommandEnd } from "../process/command-runner.ts";

/** Status of a task, as the contract names it. */
export type TaskStatus = "running" | "completed" | "failed" | "cancelled" | "timed_out";

/** What is known of a task when it starts. */
export interface ShellTaskStart {
  readonly taskId: string;
  /** As it was executed, with a configured prefix. */
  readonly command: string;
  readonly running: Command;
  readonly workingDirectory: string;
  readonly outputFile: string;
  readonly description: string | null;
  /** The run time is limited only by what every command may take. */
  readonly isMaxRunTime: boolean;
  /** Characters of the output in what its end is told with. */
  readonly maxOutput: number;
  /** Default: `bash`. */
  readonly kind?: "bash" | "monitor" | undefined;
  /** What people read instead of the command. */
  readonly displayCommand?: string | undefined;
  /** Resolves when everything that comes before its end was told; settles soon after the end. Default: at once. */
  readonly toldBefore?: Promise<void> | undefined;
  readonly clock: Clock;
}

/** One command in the background. */
export class ShellTask {
  readonly taskId: string;
  readonly command: string;
  readonly workingDirectory: string;
  readonly outputFile: string;
  readonly description: string | null;
  readonly kind: "bash" | "monitor";
  readonly displayCommand: string | undefined;
  readonly maxOutput: number;
  readonly toldBefore: Promise<void>;
  readonly startedAtMs: number;
  readonly running: Command;
  /** Resolves when the command has ended. */
  readonly finished: Promise<void>;
  /** Its end was told to the model, or need not be told. */
  isReported = false;
  /** What it had left running was one too many for the session. */
  areLeftoversEnded = false;
  /** Calls that wait for the end and will tell it. */
  waiterCount = 0;
  /** A call has asked for its end and will tell it. */
  isKillAwaited = false;
  readonly #isMaxRunTime: boolean;
  readonly #clock: Clock;
  #end: CommandEnd | undefined;
  #endedAtMs: number | undefined;

  constructor(start: ShellTaskStart) {
    const { taskId, command, running, workingDirectory, outputFile, description, clock } = start;
    this.taskId = taskId;
    this.command = command;
    this.running = running;
    this.workingDirectory = workingDirectory;
    this.outputFile = outputFile;
    this.description = description;
    this.kind = start.kind ?? "bash";
    this.displayCommand = start.displayCommand;
    this.maxOutput = start.maxOutput;
    this.toldBefore = start.toldBefore ?? Promise.resolve();
    this.startedAtMs = running.startedAtMs;
    this.#isMaxRunTime = start.isMaxRunTime;
    this.#clock = clock;
    this.finished = running.ended.then((end) => {
      this.#end = end;
      this.#endedAtMs = clock.now();
    });
  }

  get hasEnded(): boolean {
    return this.#end !== undefined;
  }

  /** It was ended on purpose, not by a limit. */
  get wasKilled(): boolean {
    return this.#end?.reason === "killed";
  }

  /** It has ended and left something running. */
  get hasLeftovers(): boolean {
    return this.#end !== undefined && this.#end.leftovers.length > 0;
  }

  get endedAtMs(): number | undefined {
    return this.#endedAtMs;
  }

  get durationMs(): number {
    return Math.max(0, (this.#endedAtMs ?? this.#clock.now()) - this.startedAtMs);
  }

  get status(): TaskStatus {
    if (this.#end === undefined) return "running";
    if (this.wasKilled) return "cancelled";
    if (this.signal === "timeout") return "timed_out";
    return this.exitCode === 0 ? "completed" : "failed";
  }

  /** Null while it runs and when it was ended from outside. */
  get exitCode(): number | null {
    return this.#end?.reason === "exited" ? this.#end.exitCode : null;
  }

  /** Why it ended other than by itself; null after an ordinary exit. */
  get signal(): string | null {
    return this.#end === undefined ? null : signalOf(this.#end, this.#isMaxRunTime);
  }

  /** Ends the whole tree. False: it had ended by itself; what it had left behind is ended all the same. */
  async kill(graceMs: number): Promise<boolean> {
    const hadEnded = this.hasEnded;
    const end = await this.running.kill("killed", graceMs);
    await this.finished;
    return !hadEnded && end.reason === "killed";
  }
}

/** The contract's word for how a command ended; null after an ordinary exit, whatever its code. */
export function signalOf(end: CommandEnd, isMaxRunTime: boolean): string | null {
  switch (end.reason) {
    case "exited": {
      if (end.signal === null) return null;
      const entry = Object.entries(constants.signals).find(([name]) => name === end.signal);
      return `signal ${entry?.[1] ?? end.signal}`;
    }
    case "timed-out":
      return isMaxRunTime ? "max_runtime" : "timeout";
    case "output-limit":
      return "output_limit";
    case "killed":
      return "killed";
    case "cancelled":
    case "session-ended":
      return "cancelled";
    case "supervisor-lost":
      return "error: the process that watched the command was lost";
    case "spawn-failed":
      return `error: ${end.spawnError ?? "the command could not be started"}`;
  }
}
