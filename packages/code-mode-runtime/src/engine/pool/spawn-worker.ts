import { type ChildProcess, spawn } from "node:child_process";
import { Duplex } from "node:stream";
import { type Logger, TriviumError } from "@trivium/core";
import { inheritedDescriptors } from "./inherited-descriptors.ts";
import type { WorkerCommand } from "./worker-command.ts";

/** A started process and the socket that it has as descriptor 3. */
export interface SpawnedWorker {
  readonly child: ChildProcess;
  readonly pid: number;
  readonly channel: Duplex;
}

/**
 * Starts a worker.
 *
 * @throws {@link TriviumError} `unavailable` when this machine cannot start a process now: no descriptors, no memory.
 */
export function spawnWorker(
  command: WorkerCommand,
  environment: Readonly<Record<string, string>>,
  logger: Logger,
): SpawnedWorker {
  const child = spawn(command.file, [...command.arguments, inheritedDescriptors().join(",")], {
    cwd: "/",
    env: { ...environment },
    stdio: ["ignore", "ignore", "pipe", "pipe"],
  });
  // Before anything else: an error that nobody listens to would end the server.
  child.on("error", (error) => logger.warn({ workerPid: child.pid, error }, "cell worker process failed"));
  // Without descriptors there are no streams, whatever the type says.
  const streams: readonly unknown[] | undefined = child.stdio;
  const channel = streams?.[3];
  const { pid } = child;
  if (channel instanceof Duplex) channel.on("error", () => {});
  if (pid !== undefined && channel instanceof Duplex) return { child, pid, channel };
  for (const stream of streams ?? []) if (stream instanceof Duplex) stream.destroy();
  throw new TriviumError("unavailable", "a cell worker process could not be started on this machine");
}
