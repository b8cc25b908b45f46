import { silentLogger } from "@trivium/core";
import { ManualClock, sequentialIds } from "@trivium/core/testing";
import type { CommandRunner } from "../process/command-runner.ts";
import type { ProgramRunner } from "../process/program-runner.ts";
import type { ResourceDefinition } from "../session-resource.ts";
import { noSubagents } from "../subagents/no-subagents.ts";
import type { ToolContext } from "../tool.ts";
import { defaultToolSettings } from "../tool-settings.ts";

/** A context for running one tool in a test: `await tool.run({ … }, toolContext({ workingDirectory }))`. */
export function toolContext(overrides: Partial<ToolContext<unknown>> = {}): ToolContext<unknown> {
  const resources = new Map<object, unknown>();
  const workingDirectory = overrides.workingDirectory ?? "/";
  const context: ToolContext<unknown> = {
    sessionId: "session-1",
    sessionDirectory: workingDirectory,
    sessionFolder: workingDirectory,
    dataDir: workingDirectory,
    sessionSignal: new AbortController().signal,
    clock: new ManualClock(),
    ids: sequentialIds(),
    logger: silentLogger,
    settings: defaultToolSettings,
    workspaceRoots: undefined,
    environment: {},
    secretVariables: [],
    homeDirectory: undefined,
    commandRunner: noCommandRunner,
    programRunner: noProgramRunner,
    workflowEngine: undefined,
    resource<Resource>(definition: ResourceDefinition<Resource>): Resource {
      if (!resources.has(definition)) resources.set(definition, definition.create(context));
      return resources.get(definition) as Resource;
    },
    stateChanged: () => {},
    toolName: () => undefined,
    configuredTools: [],
    subagents: noSubagents,
    notify: () => {},
    promptId: undefined,
    touched: () => {},
    callId: "call-1",
    signal: new AbortController().signal,
    workingDirectory,
    params: {},
    behaviorVersion: "current",
    timeoutMs: undefined,
    limits: { maxOutput: 40_000, maxOutputConfigured: false, maxLinesRead: 1000 },
    remindersEnabled: false,
    parameterName: (name) => name,
    progress: () => {},
    ...overrides,
  };
  return context;
}

const refuse = (): never => {
  throw new Error("this test gave no runner");
};

const noCommandRunner: CommandRunner = {
  start: refuse,
  containment: refuse,
  stats: () => ({ live: 0, queued: 0, lingering: 0, supervisors: 0 }),
  [Symbol.asyncDispose]: () => Promise.resolve(),
};

const noProgramRunner: ProgramRunner = { run: refuse };
