import {
  createCommandRunner,
  createGrokToolsRuntime,
  type GrokToolsRuntime,
  type ProcessRunner,
  recoverInterruptedWrites,
} from "@trivium/grok-tools-runtime";
import { createCallbackDialer } from "@trivium/grok-tools-server";
import type { ConfigValues } from "../config/config-keys.ts";
import { version } from "../version.ts";
import type { CodeModePart } from "./code-mode-part.ts";
import { keyVariables } from "./model-settings.ts";
import type { Part } from "./part.ts";
import { startLocalSubagents } from "./subagents/local-subagents.ts";
import { toWebSettings, webKeyVariables } from "./web-settings.ts";
import { createWorkflowEngine } from "./workflow-engine.ts";

/** The processes and tools of a server. Both are owned by the stack they were made on. */
export interface ToolsPart {
  readonly processes: ProcessRunner;
  readonly runtime: GrokToolsRuntime;
}

/** Starts the process helpers and the tools runtime over them. Workflows run where there is code mode. */
export async function startTools(
  values: ConfigValues,
  part: Part,
  codeMode: CodeModePart | undefined,
): Promise<ToolsPart> {
  const { stack, logger, env, dataDir } = part;
  await recoverInterruptedWrites({ dataDir, logger: logger.child({ part: "grok-tools" }) });
  const processes = stack.use(
    await createCommandRunner({
      dataFolder: `${dataDir}/processes`,
      maxCommands: values["tools.maxConcurrentCommands"],
      logger: logger.child({ part: "processes" }),
    }),
  );
  const subagentRunner = startLocalSubagents(values, part);
  const runtime = stack.use(
    createGrokToolsRuntime({
      workspace: values.workspace,
      dataDir,
      commandRunner: processes,
      programRunner: processes.programs,
      environment: env,
      secretVariables: [...keyVariables(values), ...webKeyVariables(values)],
      logger: logger.child({ part: "grok-tools" }),
      settings: {
        logicalErrors: values["tools.logicalErrors"],
        workspaceRoots: values["tools.workspaceRoots"],
        sessionIdleMinutes: values["tools.sessionIdleMinutes"],
        maxConcurrentCommands: values["tools.maxConcurrentCommands"],
        environment: values["tools.environment"],
        loginShell: values["tools.loginShell"],
        sandbox: values["tools.sandbox"],
        sandboxNetwork: values["tools.sandboxNetwork"],
        rgPath: values["tools.rgPath"],
        respectGitignore: values["tools.respectGitignore"],
        pathHints: values["tools.pathHints"],
        fileWrittenContent: values["tools.fileWrittenContent"],
        agentDefinitions: values["tools.agentDefinitions"],
        skills: {
          compat: values["tools.skills.compat"],
          folders: values["tools.skills.folders"],
        },
        memory: {
          enabled: values["tools.memory.enabled"],
          globalDir: values["tools.memory.globalDir"],
        },
        ...toWebSettings(values),
        mcpServers: values["tools.mcpServers"],
        lsp: {
          servers: values["tools.lsp.servers"],
          trustedFolders: values["tools.lsp.trustedFolders"],
        },
        workflow: values["tools.workflow"],
        answersQuestions: values.services.includes("grok-tools"),
      },
      toolVersion: version,
      callbacks: {
        dialer: createCallbackDialer({
          allowHosts: values["callbacks.allowHosts"],
          allowInsecure: values["callbacks.allowInsecure"],
        }),
        required: values["callbacks.required"],
      },
      ...(subagentRunner !== undefined && { subagentRunner }),
      ...(codeMode !== undefined && { workflowEngine: createWorkflowEngine(codeMode.runtime) }),
    }),
  );
  return { processes, runtime };
}
