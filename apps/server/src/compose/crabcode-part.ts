import { SqliteEventLogStore } from "@trivium/core/node";
import { type CrabcodeRuntime, createCrabcodeRuntime, createModelCatalogue } from "@trivium/crabcode-runtime";
import type { ConfigValues } from "../config/config-keys.ts";
import { version } from "../version.ts";
import { toSettingsKeys } from "./model-settings.ts";
import type { Part } from "./part.ts";
import { openToolbox } from "./toolbox/open-toolbox.ts";
import type { ToolsPart } from "./tools-part.ts";

const DAY_MS = 24 * 60 * 60 * 1000;

/** Starts the conversations. Their files, searches and commands are those of the tools runtime. */
export function startCrabcode(values: ConfigValues, part: Part, tools: ToolsPart): CrabcodeRuntime {
  const { stack, logger, env, dataDir } = part;
  const eventLogs = new SqliteEventLogStore({
    path: `${dataDir}/events.db`,
    logger: logger.child({ part: "event-log" }),
  });
  stack.defer(() => eventLogs.close());
  const userFolder =
    env["CRABCODE_HOME"] ?? (env["HOME"] === undefined ? undefined : `${env["HOME"]}/.crabcode`);
  const flagFile = values["crabcode.settingsFile"];
  return stack.use(
    createCrabcodeRuntime({
      dataDir,
      eventLogs,
      models: createModelCatalogue({ variables: env, isTesting: values["crabcode.testing"] }),
      openToolbox: openToolbox(values, part, tools),
      workspaceRoots: [values.workspace, ...(values["tools.workspaceRoots"] ?? [])],
      settings: {
        base: toSettingsKeys(values),
        ...(userFolder !== undefined && { userFolder }),
        ...(flagFile !== undefined && { flagFile }),
      },
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
