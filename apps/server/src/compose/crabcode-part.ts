import { SqliteEventLogStore } from "@trivium/core/node";
import { type CrabcodeRuntime, createCrabcodeRuntime } from "@trivium/crabcode-runtime";
import type { ConfigValues } from "../config/config-keys.ts";
import { version } from "../version.ts";
import { agentSources } from "./agent-sources.ts";
import { createCodeCells } from "./code-cells/create-code-cells.ts";
import type { CodeModePart } from "./code-mode-part.ts";
import { openMcp } from "./mcp/open-mcp.ts";
import { keyVariables } from "./model-settings.ts";
import type { Part } from "./part.ts";
import { createRunProgram } from "./run-program.ts";
import { createSkillFiles } from "./skills/skill-files.ts";
import { openToolbox } from "./toolbox/open-toolbox.ts";
import { createWebSearch } from "./toolbox/web-search.ts";
import type { ToolsPart } from "./tools-part.ts";
import { webKeyVariables } from "./web-settings.ts";

const DAY_MS = 24 * 60 * 60 * 1000;

/** Other parts that conversations work with. */
export interface CrabcodeSurroundings {
  readonly tools: ToolsPart;
  /** Undefined: agents run no programs. */
  readonly codeMode: CodeModePart | undefined;
}

/**
 * Starts the conversations. Their files, searches and commands are those of the tools runtime, their programs run where
 * those of code mode do.
 */
export function startCrabcode(
  values: ConfigValues,
  part: Part,
  { tools, codeMode }: CrabcodeSurroundings,
): CrabcodeRuntime {
  const { stack, logger, env, dataDir } = part;
  const eventLogs = new SqliteEventLogStore({
    path: `${dataDir}/events.db`,
    logger: logger.child({ part: "event-log" }),
  });
  stack.defer(() => eventLogs.close());
  const codeCells =
    codeMode &&
    stack.use(
      createCodeCells({
        engine: codeMode.engine,
        maxCells: values["codeMode.maxCells"],
        logger: logger.child({ part: "code-cells" }),
      }),
    );
  return stack.use(
    createCrabcodeRuntime({
      dataDir,
      eventLogs,
      ...agentSources(values, part),
      openToolbox: openToolbox(values, part, tools),
      openMcp: openMcp(values, part, tools),
      webSearch: createWebSearch(values, part, tools.processes.programs),
      skills: createSkillFiles(),
      runProgram: createRunProgram({
        programs: tools.processes.programs,
        policy: values["tools.environment"],
        secretVariables: [...keyVariables(values), ...webKeyVariables(values)],
        server: env,
      }),
      ...(codeCells !== undefined && { codeCells }),
      workspaceRoots: [values.workspace, ...(values["tools.workspaceRoots"] ?? [])],
      logger: logger.child({ part: "crabcode" }),
      version,
      resumesDefaultSession: values["crabcode.resumeDefaultSession"],
      maxQueuedMessages: values["crabcode.maxQueuedMessages"],
      rejoinGraceMs: values["crabcode.rejoinGraceSeconds"] * 1000,
      eventRetention: {
        maxEvents: values["crabcode.eventLog.maxEvents"],
        maxBytes: values["crabcode.eventLog.maxBytes"],
        maxAgeMs: values["crabcode.eventLog.maxAgeDays"] * DAY_MS,
      },
    }),
  );
}
