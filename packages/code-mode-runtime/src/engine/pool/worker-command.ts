import { createRequire } from "node:module";
import { dirname } from "node:path";
import { fileURLToPath } from "node:url";
import { isolatedVmAddonFile } from "./addon-file.ts";

/** A program and its arguments. */
export interface WorkerCommand {
  readonly file: string;
  readonly arguments: readonly string[];
}

/**
 * How a worker process is started: permission model on, with the worker's own code as the only thing it may read.
 *
 * @throws {@link TriviumError} `unavailable` when there is no native library for this machine.
 */
export function workerCommand(defaultHeapLimitBytes: number): WorkerCommand {
  const isSource = import.meta.url.endsWith(".ts");
  const worker = fileURLToPath(new URL(isSource ? "../cell-worker.ts" : "./cell-worker.js", import.meta.url));
  const readable = isSource ? sourceFolders(worker) : [worker];
  return {
    file: process.execPath,
    arguments: [
      "--permission",
      "--allow-addons",
      ...readable.map((path) => `--allow-fs-read=${path}`),
      "--disable-warning=PERM0001",
      // Code of V8's baseline compiler shows in the stacks of other contexts, so hot helpers would.
      "--no-sparkplug",
      worker,
      isolatedVmAddonFile(),
      String(defaultHeapLimitBytes),
    ],
  };
}

/** The worker in pieces, as in the repository: its package, and the one package that it imports. */
function sourceFolders(worker: string): string[] {
  const parser = dirname(createRequire(import.meta.url).resolve("acorn/package.json"));
  return [dirname(dirname(dirname(worker))), parser];
}
