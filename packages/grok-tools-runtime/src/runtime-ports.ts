import type { Clock, IdSource, Logger } from "@trivium/core";
import type { BehaviorPreset } from "./finalize/behavior-versions.ts";
import type { HostFacts } from "./finalize/template-scope.ts";
import type { CallbackDialer } from "./notifications/callback-dialer.ts";
import type { CommandRunner } from "./process/command-runner.ts";
import type { ProgramRunner } from "./process/program-runner.ts";
import type { SubagentRunner } from "./subagents/subagent-runner.ts";
import type { ToolRegistry } from "./tool-registry.ts";
import type { ToolSettings } from "./tool-settings.ts";
import type { WorkflowEngine } from "./workflow/workflow-engine.ts";

/** What all sessions of a runtime share. */
export interface RuntimePorts {
  readonly registry: ToolRegistry;
  /** Default folder of sessions, absolute. */
  readonly workspace: string;
  /** Folder for state, logs and artefacts, absolute. */
  readonly dataDir: string;
  readonly commandRunner: CommandRunner;
  readonly programRunner: ProgramRunner;
  readonly clock: Clock;
  readonly ids: IdSource;
  readonly logger: Logger;
  readonly settings: ToolSettings;
  readonly environment: Readonly<Record<string, string | undefined>>;
  /** Variables that no command gets. */
  readonly secretVariables: readonly string[];
  readonly homeDirectory: string | undefined;
  readonly host: HostFacts;
  readonly presets: readonly BehaviorPreset[];
  /** Longest time a waiting tool blocks. */
  readonly maxWaitMs: number;
  readonly toolVersion: string;
  readonly callbacks: CallbackPorts;
  /** Undefined when the setting `workflow` is off, too. */
  readonly workflowEngine: WorkflowEngine | undefined;
  /** Runs children of sessions whose client runs none. */
  readonly subagentRunner: SubagentRunner | undefined;
}

/** How callback services of clients are reached. */
export interface CallbackPorts {
  readonly dialer: CallbackDialer;
  /** Finalize fails when the service cannot be reached. */
  readonly required: boolean;
}
