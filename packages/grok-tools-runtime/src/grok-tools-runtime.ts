import { resolve } from "node:path";
import { type Clock, type IdSource, type Logger, randomIds, silentLogger, systemClock } from "@trivium/core";
import { builtInTools } from "./catalogue/built-in-tools.ts";
import { behaviorPresets } from "./finalize/behavior-versions.ts";
import type { HostFacts } from "./finalize/template-scope.ts";
import type { ToolConfig, ToolConfigEntry } from "./finalize/tool-config.ts";
import type { JsonObject } from "./json.ts";
import type { CallbackDialer } from "./notifications/callback-dialer.ts";
import { noCallbackDialer } from "./notifications/no-callback-dialer.ts";
import type { CommandRunner } from "./process/command-runner.ts";
import type { ProgramRunner } from "./process/program-runner.ts";
import type { RuntimePorts } from "./runtime-ports.ts";
import { SessionStore } from "./session-store.ts";
import { maxWaitMs } from "./shell/task-wait.ts";
import type { SubagentRunner } from "./subagents/subagent-runner.ts";
import { createToolRegistry, type ToolRegistry } from "./tool-registry.ts";
import type { ToolSession } from "./tool-session.ts";
import { defaultToolSettings, type ToolSettings } from "./tool-settings.ts";
import { PACKAGE_VERSION } from "./version.ts";
import type { WorkflowEngine } from "./workflow/workflow-engine.ts";

/** Options of {@link createGrokToolsRuntime}. */
export interface GrokToolsRuntimeOptions {
  /** Default: all tools of this package. */
  readonly registry?: ToolRegistry;
  /** Default folder of sessions. It exists. */
  readonly workspace: string;
  /** Folder for state, logs and artefacts, used by no other process. Made when missing. */
  readonly dataDir: string;
  /** Not disposed by the runtime. */
  readonly commandRunner: CommandRunner;
  /** Not disposed by the runtime. */
  readonly programRunner: ProgramRunner;
  readonly clock?: Clock;
  readonly ids?: IdSource;
  readonly logger?: Logger;
  /** Missing keys have their defaults. */
  readonly settings?: Partial<ToolSettings>;
  /** Environment variables of the server. Default: none. */
  readonly environment?: Readonly<Record<string, string | undefined>>;
  /**
   * Names of further variables of `environment` that no command gets, whatever a toolset asks for: those that hold
   * keys of configured providers. The usual names are known.
   */
  readonly secretVariables?: readonly string[];
  /** Expands `~`. Default: `HOME` of `environment`. */
  readonly homeDirectory?: string;
  /** What descriptions may say about the host. Default: by the platform. */
  readonly host?: HostFacts;
  readonly toolVersion?: string;
  /** Reaches the callback services of clients. Default: sessions are told that this server reaches none. */
  readonly callbacks?: { readonly dialer: CallbackDialer; readonly required?: boolean };
  /** Runs subagents of sessions whose client does not. Default: nobody does. */
  readonly subagentRunner?: SubagentRunner;
  /** Runs the scripts of workflows. Not disposed by the runtime. Default: workflows are not available. */
  readonly workflowEngine?: WorkflowEngine;
}

/** A session to open in this process. */
export interface OpenSessionOptions extends Omit<ToolConfig, "tools" | "sessionId"> {
  readonly id: string;
  /** Absolute or relative to the workspace. */
  readonly cwd?: string;
  /** Ids, or entries; `params` may be given as an object. */
  readonly tools: readonly (string | (ToolConfigEntry & { readonly params?: JsonObject }))[];
}

/** The sessions of all tools, without a transport. */
export interface GrokToolsRuntime extends AsyncDisposable {
  readonly registry: ToolRegistry;
  readonly settings: ToolSettings;
  /** What `tool_version` says. */
  readonly toolVersion: string;
  readonly sessions: SessionStore;
  /**
   * Opens and finalizes a session that lasts until it is disposed.
   *
   * @throws {@link FinalizeConfigError}; {@link TriviumError} `alreadyExists` when the id is in use.
   */
  openSession(options: OpenSessionOptions): Promise<ToolSession>;
}

/**
 * The tools runtime. Disposing it closes all sessions: calls are cancelled, background work ends, state is saved.
 * `recoverInterruptedWrites` comes before it.
 */
export function createGrokToolsRuntime(options: GrokToolsRuntimeOptions): GrokToolsRuntime {
  const ports = toPorts(options);
  const sessions = new SessionStore(ports);
  return {
    registry: ports.registry,
    settings: ports.settings,
    toolVersion: ports.toolVersion,
    sessions,
    async openSession({ id, cwd, tools, ...config }) {
      const session = sessions.ownedSession(id);
      try {
        await session.finalize({ ...config, tools: tools.map(toEntry) }, { cwd });
        return session;
      } catch (thrown) {
        await session.close();
        throw thrown;
      }
    },
    [Symbol.asyncDispose]: () => sessions[Symbol.asyncDispose](),
  };
}

function toEntry(tool: OpenSessionOptions["tools"][number]): ToolConfigEntry {
  if (typeof tool === "string") return { id: tool };
  const { params, ...entry } = tool;
  return params === undefined ? entry : { ...entry, paramsJson: JSON.stringify(params) };
}

function toPorts(options: GrokToolsRuntimeOptions): RuntimePorts {
  const environment = options.environment ?? {};
  const settings = { ...defaultToolSettings, ...options.settings };
  const workflowEngine = settings.workflow ? options.workflowEngine : undefined;
  return {
    registry: options.registry ?? createToolRegistry(builtInTools),
    workspace: resolve(options.workspace),
    dataDir: resolve(options.dataDir),
    commandRunner: options.commandRunner,
    programRunner: options.programRunner,
    clock: options.clock ?? systemClock,
    ids: options.ids ?? randomIds,
    logger: options.logger ?? silentLogger,
    settings: { ...settings, workflow: workflowEngine !== undefined },
    environment,
    secretVariables: options.secretVariables ?? [],
    homeDirectory: options.homeDirectory ?? environment["HOME"],
    host: options.host ?? thisHost(),
    presets: behaviorPresets,
    maxWaitMs: maxWaitMs({ environment }),
    toolVersion: options.toolVersion ?? PACKAGE_VERSION,
    callbacks: {
      dialer: options.callbacks?.dialer ?? noCallbackDialer,
      required: options.callbacks?.required ?? false,
    },
    subagentRunner: options.subagentRunner,
    workflowEngine,
  };
}

function thisHost(): HostFacts {
  const isWindows = process.platform === "win32";
  return { isWindows, shellUsesSemicolon: isWindows, hasUnixUtilities: !isWindows };
}
