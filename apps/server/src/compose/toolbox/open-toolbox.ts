import { mkdir, realpath, rm } from "node:fs/promises";
import { join } from "node:path";
import { randomIds, systemClock } from "@trivium/core";
import type { OpenToolbox, ToolboxPort } from "@trivium/crabcode-runtime";
import {
  EditEngine,
  FileReadTracker,
  LineIndexCache,
  processPathLocks,
  WorkspaceFiles,
  WorkspaceSearch,
  WriteJournal,
} from "@trivium/grok-tools-runtime/internal";
import type { ConfigValues } from "../../config/config-keys.ts";
import { keyVariables } from "../model-settings.ts";
import type { Part } from "../part.ts";
import type { ToolsPart } from "../tools-part.ts";
import { webKeyVariables } from "../web-settings.ts";
import { createRunCommand } from "./run-command.ts";

/**
 * Opens the toolboxes of conversations over the functions of the tools runtime: its edit engine with the locks of the
 * whole server, its search, its process runner.
 */
export function openToolbox(values: ConfigValues, { env, dataDir }: Part, tools: ToolsPart): OpenToolbox {
  return async ({ sessionId, cwd, additionalDirectories }): Promise<ToolboxPort> => {
    const homeDirectory = env["HOME"];
    const place = {
      workingDirectory: cwd,
      homeDirectory,
      roots: await rootsOf(values["tools.workspaceRoots"], [cwd, ...additionalDirectories]),
    };
    const files = new WorkspaceFiles({
      ...place,
      engine: new EditEngine({
        ids: randomIds,
        clock: systemClock,
        isDurable: true,
        locks: processPathLocks,
        journal: new WriteJournal({ dataDir, ids: randomIds }),
      }),
      tracker: new FileReadTracker(),
      indexes: new LineIndexCache(),
    });
    const search = new WorkspaceSearch({
      ...place,
      programRunner: tools.processes.programs,
      clock: systemClock,
      rgPath: values["tools.rgPath"],
      environment: env,
    });
    const logFolder = join(dataDir, "crabcode-commands", sessionId);
    await mkdir(logFolder, { recursive: true, mode: 0o700 });
    const commands = createRunCommand({
      runner: tools.processes,
      policy: values["tools.environment"],
      secretVariables: [...keyVariables(values), ...webKeyVariables(values)],
      server: env,
      workingDirectory: cwd,
      logFolder,
    });
    return {
      resolvePath: (path) => files.resolvePath(path),
      readText: (request) => files.readText(request),
      editText: (request) => files.editText(request),
      writeFile: (request) => files.writeFile(request),
      search: (request) => search.search(request),
      findFiles: (request) => search.findFiles(request),
      exclusively,
      runCommand: commands.run,
      async [Symbol.asyncDispose]() {
        await commands[Symbol.asyncDispose]();
        await rm(logFolder, { recursive: true, force: true });
      },
    };
  };
}

/** All sessions take the locks of several files in the same order, so that none waits for itself. */
async function exclusively<Result>(paths: readonly string[], job: () => Promise<Result>): Promise<Result> {
  await using locks = new AsyncDisposableStack();
  for (const path of [...new Set(paths)].sort()) locks.use(await processPathLocks.acquire(path));
  return await job();
}

/** Folders files must stay in: the configured ones and the session's own. Undefined: anywhere. */
async function rootsOf(
  configured: readonly string[] | undefined,
  own: readonly string[],
): Promise<string[] | undefined> {
  if (configured === undefined) return undefined;
  return Promise.all([...configured, ...own].map((folder) => realpath(folder)));
}
