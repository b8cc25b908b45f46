import { stat } from "node:fs/promises";
import { abortReason, type Clock, TriviumError } from "@trivium/core";
import type { Helper } from "./helper.ts";
import type { ProgramEnd, ProgramRunner, ProgramSpec, RunningProgram } from "./program-runner.ts";
import { SupervisedProgramRun } from "./supervised-program-run.ts";
import { COMMAND_MARK, SERVER_MARK } from "./supervisor/marks.ts";
import type { FromHelper, SpawnFailure } from "./supervisor/message.ts";

export interface ProgramDeps {
  readonly serverId: string;
  readonly clock: Clock;
  startHelper(): Promise<Helper>;
}

/** Runs programs from one helper process that is started with the first of them. */
export class SupervisedPrograms implements ProgramRunner {
  readonly #deps: ProgramDeps;
  readonly #running = new Map<number, SupervisedProgramRun>();
  #helper: Promise<Helper> | undefined;
  #count = 0;
  #isClosed = false;

  constructor(deps: ProgramDeps) {
    this.#deps = deps;
  }

  async run(spec: ProgramSpec): Promise<RunningProgram> {
    const { argv, workingDirectory, env, timeoutMs, signal, input } = spec;
    throwIfAborted(signal);
    if (this.#isClosed) throw new TriviumError("unavailable", "the program runner is closing");
    const folder = await stat(workingDirectory).catch(() => undefined);
    if (folder?.isDirectory() !== true) {
      throw new TriviumError(
        "notFound",
        `the working directory ${workingDirectory} is not an existing folder`,
      );
    }
    this.#helper ??= this.#startHelper();
    const helper = await this.#helper;
    throwIfAborted(signal);
    const programId = ++this.#count;
    const { clock, serverId } = this.#deps;
    const run = new SupervisedProgramRun({ programId, helper, clock, signal, hasInput: input === "pipe" });
    const treeName = `${serverId}-program-${programId}`;
    this.#running.set(programId, run);
    void run.ended.finally(() => this.#running.delete(programId));
    helper.send({
      type: "program",
      programId,
      argv,
      workingDirectory,
      env: { ...env, [SERVER_MARK]: serverId, ...(input === "pipe" && { [COMMAND_MARK]: treeName }) },
      timeoutMs,
      treeMark: input === "pipe" ? `${COMMAND_MARK}=${treeName}` : undefined,
    });
    const failure = await run.started;
    if (failure !== undefined) throw toError(failure);
    return run;
  }

  /** Stops every program. */
  async close(): Promise<void> {
    this.#isClosed = true;
    await Promise.all([...this.#running.values()].map((run) => run.stop()));
  }

  async #startHelper(): Promise<Helper> {
    const forget = (): void => {
      this.#helper = undefined;
      for (const run of this.#running.values()) run.lose();
    };
    try {
      const helper = await this.#deps.startHelper();
      helper.listen((message, bytes) => this.#onMessage(message, bytes), forget);
      return helper;
    } catch (error) {
      this.#helper = undefined;
      throw error;
    }
  }

  #onMessage(message: FromHelper, bytes: Uint8Array): void {
    if (!("programId" in message)) return;
    const run = this.#running.get(message.programId);
    if (run === undefined) return;
    switch (message.type) {
      case "program-started":
        run.onStarted(undefined);
        break;
      case "program-failed":
        run.onStarted(message.failure);
        break;
      case "program-data":
        run.onData(bytes);
        break;
      case "program-input-taken":
        run.onInputTaken(message.bytes);
        break;
      case "program-ended": {
        const { reason, exitCode, signal, durationMs } = message;
        const end: ProgramEnd = { reason, exitCode, signal, stderr: bytes.slice(), durationMs };
        run.onEnded(end);
        break;
      }
    }
  }
}

function throwIfAborted(signal: AbortSignal | undefined): void {
  if (signal?.aborted === true) throw abortReason(signal);
}

const kindOfFailure = {
  "missing-folder": "notFound",
  "missing-program": "notFound",
  "bad-argument": "invalidInput",
  refused: "unavailable",
} as const;

function toError({ kind, message }: SpawnFailure): TriviumError {
  return new TriviumError(kindOfFailure[kind], message);
}
