import {
  createCommandRunner,
  createGrokToolsRuntime,
  type GrokToolsRuntime,
  type ProcessRunner,
} from "@trivium/grok-tools-runtime";
import type { ConfigValues } from "../config/config-keys.ts";
import { version } from "../version.ts";
import { keyVariables } from "./model-settings.ts";
import type { Part } from "./part.ts";

/** The processes and tools of a server. Both are owned by the stack they were made on. */
export interface ToolsPart {
  readonly processes: ProcessRunner;
  readonly runtime: GrokToolsRuntime;
}

/** Starts the process helpers and the tools runtime over them. */
export async function startTools(
  values: ConfigValues,
  { stack, logger, env, dataDir }: Part,
): Promise<ToolsPart> {
  const processes = stack.use(
    await createCommandRunner({
      dataFolder: `${dataDir}/processes`,
      maxCommands: values["tools.maxConcurrentCommands"],
      logger: logger.child({ part: "processes" }),
    }),
  );
  const runtime = stack.use(
    createGrokToolsRuntime({
      workspace: values.workspace,
      dataDir,
      commandRunner: processes,
      programRunner: processes.programs,
      environment: env,
      secretVariables: keyVariables(values),
      logger: logger.child({ part: "grok-tools" }),
      settings: {
        logicalErrors: values["tools.logicalErrors"],
        workspaceRoots: values["tools.workspaceRoots"],
        sessionIdleMinutes: values["tools.sessionIdleMinutes"],
        maxConcurrentCommands: values["tools.maxConcurrentCommands"],
        environment: values["tools.environment"],
        loginShell: values["tools.loginShell"],
        rgPath: values["tools.rgPath"],
        respectGitignore: values["tools.respectGitignore"],
        pathHints: values["tools.pathHints"],
      },
      toolVersion: version,
    }),
  );
  return { processes, runtime };
}
