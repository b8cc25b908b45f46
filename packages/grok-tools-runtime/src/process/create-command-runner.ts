import { type Clock, type IdSource, type Logger, randomIds, silentLogger, systemClock } from "@trivium/core";
import type { CommandRunner } from "./command-runner.ts";
import { HelperHub } from "./helper-hub.ts";
import { sweepDeadServers } from "./helper-registry.ts";
import type { ProgramRunner } from "./program-runner.ts";
import { SupervisedRunner } from "./supervised-runner.ts";

/** Options of {@link createCommandRunner}. */
export interface CommandRunnerOptions {
  /** Folder for the records of processes in use, shared by the servers of one data folder. Made if missing. */
  readonly dataFolder: string;
  /** Commands that run at once; more wait in order. 1 to 1000, default 32. */
  readonly maxCommands?: number | undefined;
  /** Supervisors kept ready for the next command. 0 to 8, default 2. */
  readonly warmSupervisors?: number | undefined;
  /** `fallback` does without system calls that need Node's foreign function interface. Default `auto`. */
  readonly containment?: "auto" | "fallback" | undefined;
  readonly clock?: Clock | undefined;
  readonly ids?: IdSource | undefined;
  readonly logger?: Logger | undefined;
}

/** Both ports on one set of helper processes. Disposing it ends every command and every helper. */
export interface ProcessRunner extends CommandRunner {
  readonly programs: ProgramRunner;
}

/**
 * Starts the helper processes and gives the ports to them. Commands that a dead server of the same data folder has
 * left are ended first.
 *
 * @throws {@link TriviumError} `unavailable` when the helper processes do not start.
 */
export async function createCommandRunner(options: CommandRunnerOptions): Promise<ProcessRunner> {
  const { dataFolder, containment, clock = systemClock, ids = randomIds, logger = silentLogger } = options;
  const sweptCount = await sweepDeadServers(dataFolder);
  if (sweptCount > 0) logger.warn({ sweptCount }, "ended what dead servers had left");
  const serverId = ids.hex(16);
  const hub = await HelperHub.open({
    dataFolder,
    serverId,
    isFallback: containment === "fallback",
    clock,
    ids,
    logger,
  });
  return new SupervisedRunner({
    hub,
    serverId,
    clock,
    ids,
    logger,
    maxCommands: options.maxCommands ?? 32,
    warmSupervisors: options.warmSupervisors ?? 2,
  });
}
