import { stat } from "node:fs/promises";
import { type Clock, type IdSource, type Logger, TriviumError } from "@trivium/core";
import type { Command, CommandRunnerStats, CommandSpec, Containment } from "./command-runner.ts";
import type { ProcessRunner } from "./create-command-runner.ts";
import { detectContainment } from "./detect-containment.ts";
import type { HelperHub } from "./helper-hub.ts";
import type { ProgramRunner } from "./program-runner.ts";
import { SupervisedPrograms } from "./supervised-programs.ts";
import { closingError, SupervisedRun } from "./supervised-run.ts";
import { SupervisorPool } from "./supervisor-pool.ts";

export interface RunnerDeps {
  readonly hub: HelperHub;
  readonly serverId: string;
  readonly maxCommands: number;
  readonly warmSupervisors: number;
  readonly clock: Clock;
  readonly ids: IdSource;
  readonly logger: Logger;
}

/** Commands on supervisors, with a queue in front. */
export class SupervisedRunner implements ProcessRunner {
  readonly programs: ProgramRunner;
  readonly #programs: SupervisedPrograms;
  readonly #deps: RunnerDeps;
  readonly #pool: SupervisorPool;
  readonly #queue: SupervisedRun[] = [];
  readonly #live = new Set<SupervisedRun>();
  /** Ended, but not everything of them is gone. */
  readonly #lingering = new Set<SupervisedRun>();
  #isClosing = false;
  #containment: Promise<Containment> | undefined;

  constructor(deps: RunnerDeps) {
    this.#deps = deps;
    const { hub, serverId, clock, logger } = deps;
    this.#pool = new SupervisorPool({
      warmCount: deps.warmSupervisors,
      start: () => hub.startHelper("supervisor"),
      clock,
      logger,
    });
    this.#programs = new SupervisedPrograms({
      serverId,
      clock,
      startHelper: () => hub.startHelper("programs"),
    });
    this.programs = this.#programs;
  }

  async start(spec: CommandSpec): Promise<Command> {
    if (this.#isClosing) throw closingError();
    await checkSpec(spec);
    if (this.#isClosing) throw closingError();
    const run: SupervisedRun = this.#createRun(spec);
    this.#queue.push(run);
    this.#pump();
    if (this.#live.has(run)) await run.started;
    return run;
  }

  containment(): Promise<Containment> {
    this.#containment ??= this.#deps.hub
      .guardian()
      .then((guardian) => detectContainment(guardian, this.programs));
    return this.#containment;
  }

  stats(): CommandRunnerStats {
    return {
      live: this.#live.size,
      queued: this.#queue.length,
      lingering: this.#lingering.size,
      supervisors: this.#pool.size,
    };
  }

  async [Symbol.asyncDispose](): Promise<void> {
    if (this.#isClosing) return;
    this.#isClosing = true;
    for (const run of this.#queue.splice(0)) run.fail("session-ended", undefined);
    const runs = [...this.#live, ...this.#lingering];
    await Promise.all(
      runs.map(async (run) => {
        await run.kill("session-ended", 0);
        await run.release();
      }),
    );
    await this.#programs.close();
    this.#pool.close();
    await this.#deps.hub.close();
  }

  #createRun(spec: CommandSpec): SupervisedRun {
    const { hub, serverId, clock, ids, logger } = this.#deps;
    const run: SupervisedRun = new SupervisedRun(spec, {
      commandId: ids.hex(16),
      serverId,
      clock,
      logger,
      leaveQueue: () => {
        const index = this.#queue.indexOf(run);
        if (index >= 0) this.#queue.splice(index, 1);
        return index >= 0;
      },
      onEnded: () => {
        this.#live.delete(run);
        if (!run.hasVacated) this.#lingering.add(run);
        this.#pump();
      },
      onVacated: (supervisor, isReusable) => {
        this.#lingering.delete(run);
        this.#pool.giveBack(supervisor, isReusable);
        this.#pump();
      },
      onLost: () => {
        this.#lingering.delete(run);
        this.#pool.forget();
        this.#pump();
      },
      cleanUp: (request) => hub.cleanUp(request),
    });
    return run;
  }

  #pump(): void {
    while (this.#freePlaces() > 0) {
      const run = this.#queue.shift();
      if (run === undefined) return;
      this.#live.add(run);
      this.#pool.take().then(
        (supervisor) => run.runOn(supervisor),
        (error: unknown) => {
          run.fail("spawn-failed", error instanceof Error ? error.message : String(error));
          // It may have been ended while it waited for the supervisor.
          this.#lingering.delete(run);
        },
      );
    }
  }

  /**
   * What lingers holds a supervisor too, so beyond a second set of places it counts. One place stays in any case: what
   * one session has left running must not stop all others.
   */
  #freePlaces(): number {
    const { maxCommands } = this.#deps;
    const liveCount = this.#live.size;
    const freeCount = maxCommands - liveCount - Math.max(0, this.#lingering.size - maxCommands);
    return Math.max(1 - liveCount, freeCount);
  }
}

async function checkSpec({ argv, workingDirectory, env }: CommandSpec): Promise<void> {
  const folder = await stat(workingDirectory).catch(() => undefined);
  if (folder?.isDirectory() !== true) {
    throw new TriviumError(
      "invalidInput",
      `the working directory ${workingDirectory} is not an existing folder; give an existing one`,
    );
  }
  if ([...argv, ...Object.keys(env), ...Object.values(env)].some((text) => text.includes("\0"))) {
    throw new TriviumError(
      "invalidInput",
      "a command, its arguments and its environment cannot hold NUL characters",
    );
  }
}
