import type { OpenDefaults } from "../controls/open-defaults.ts";
import { CallGate } from "../execute/call-gate.ts";
import { IdempotentCalls } from "../execute/idempotent-calls.ts";
import { type FinalizedToolset, snapshotState } from "../finalized-toolset.ts";
import { type CallbackStatus, connectCallback } from "../notifications/connect-callback.ts";
import type { RuntimePorts } from "../runtime-ports.ts";
import type { SessionScope } from "../session-resource.ts";
import { emptyStateDocument, parseStateDocument, type StateDocument } from "../state/state-document.ts";
import { StateFile } from "../state/state-file.ts";
import type { SubagentSession } from "../subagents/subagent-session.ts";
import type { SubagentHost } from "../subagents/subagents.ts";
import { type VersionWarning, versionWarnings } from "./behavior-versions.ts";
import { type ConfiguredTool, configureTools } from "./configured-tool.ts";
import { openScope } from "./open-scope.ts";
import { unknownTruncationKeys } from "./output-limits.ts";
import { configuredByKey, initialStateViolation, loadResources, paramsByKey } from "./saved-state.ts";
import { findSessionDirectory, type SessionDirectory } from "./session-directory.ts";
import type { ToolConfig } from "./tool-config.ts";
import { type ValidConfig, validateConfig } from "./validate-config.ts";
import { FinalizeConfigError } from "./violation.ts";

/** What finalize needs from the session. */
export interface FinalizeRequest {
  readonly config: ToolConfig;
  /** The session's folder, absolute or relative to the workspace. Absent: the workspace. */
  readonly cwd: string | undefined;
  readonly sessionId: string;
  /** Names the session's private folder. */
  readonly folderKey: string;
  readonly sessionSignal: AbortSignal;
  /** The session that is being finalized, for its children. */
  readonly session: SubagentSession;
  /** Settings made before; they are part of `config` except for params and switched-off tools. */
  readonly open: Pick<OpenDefaults, "params" | "disabled">;
}

/** A finalized toolset and what to tell the caller about it. */
export interface FinalizeResult {
  readonly toolset: FinalizedToolset;
  /** Tokens such as `ignored_param:x`, each once. */
  readonly warnings: readonly string[];
  readonly versionWarnings: readonly VersionWarning[];
  /** Present when the request named a callback service. */
  readonly callback: CallbackStatus | undefined;
}

/**
 * Checks a configuration and builds the session from it. Nothing is left behind when it fails.
 *
 * @throws {@link FinalizeConfigError} for the configuration, {@link TriviumError} `invalidInput` for the folder,
 * `unavailable` when the saved state is there but cannot be read, and when a callback service is required and does not
 * answer.
 */
export async function finalizeToolset(
  ports: RuntimePorts,
  request: FinalizeRequest,
): Promise<FinalizeResult> {
  const { config } = request;
  const directory = await findSessionDirectory(ports, request.cwd);
  const parsed = parseStateDocument(config.initialToolStateJson ?? "");
  const initialState = "fault" in parsed ? emptyStateDocument : parsed;
  const valid = validateConfig(config, {
    registry: ports.registry,
    presets: ports.presets,
    initialState,
    openParams: request.open.params,
  });
  if ("fault" in parsed) throw new FinalizeConfigError([initialStateViolation(parsed)]);
  const remindersEnabled = config.systemRemindersEnabled === true && !isConciseSet(valid);
  const built = configureTools(valid.entries, {
    ...ports,
    truncation: config.truncation,
    remindersEnabled,
    subagentHost: subagentHostOf(ports, config),
    directory: directory.directory,
  });
  const { toolset, warnings, callback } = await buildToolset(ports, request, {
    directory,
    tools: built.tools,
    initialState,
    remindersEnabled,
  });
  return {
    toolset,
    warnings: [...new Set([...valid.warnings, ...built.warnings, ...warnings])],
    versionWarnings: versionWarningsOf(valid),
    callback,
  };
}

/** Who will run the children of the session. */
function subagentHostOf({ subagentRunner }: RuntimePorts, config: ToolConfig): SubagentHost {
  if (config.clientCallbackAddr) return "callback";
  return subagentRunner === undefined ? undefined : "local";
}

interface Parts {
  readonly directory: SessionDirectory;
  readonly tools: readonly ConfiguredTool[];
  readonly initialState: StateDocument;
  readonly remindersEnabled: boolean;
}

async function buildToolset(
  ports: RuntimePorts,
  { config, sessionId, folderKey, sessionSignal, session, open }: FinalizeRequest,
  { directory, tools, initialState, remindersEnabled }: Parts,
): Promise<{ toolset: FinalizedToolset; warnings: string[]; callback: CallbackStatus | undefined }> {
  let toolset: FinalizedToolset | undefined;
  const stateChanged = (): void => {
    const changed = toolset;
    changed?.stateFile.schedule(() => snapshotState(changed));
  };
  const { clientCallbackAddr: address, clientCallbackSecret: secret } = config;
  const callbackTarget = address ? { address, secret: secret || undefined } : undefined;
  const opened = await openScope(ports, {
    ...directory,
    sessionId,
    folderKey,
    tools,
    session,
    sessionSignal,
    callback: callbackTarget,
    stateChanged,
  });
  const { scope, resources, outbox, link } = opened;
  try {
    const stateFile = new StateFile(scope.sessionFolder, scope);
    const { document: disk, isCorrupt } = await stateFile.load();
    const skipped = loadResources(resources, tools, { disk, initial: initialState });
    // After what the tools have: those end later, and children may use them until they have ended.
    const subagents = resources.get(opened.children);
    const described = await Promise.all(tools.map((tool) => describeInSession(tool, scope)));
    const repeatedCalls = new IdempotentCalls(scope.sessionFolder, ports);
    await repeatedCalls.sweep();
    toolset = {
      scope,
      tools: described,
      byName: new Map(described.map((tool) => [tool.clientName, tool])),
      resources,
      stateFile,
      gate: new CallGate(),
      repeatedCalls,
      subagents,
      params: paramsByKey(tools, [disk, initialState]),
      configuredParams: configuredByKey(tools),
      toolVersion: ports.toolVersion,
      disabled: new Set(tools.filter(({ registered }) => open.disabled.has(registered.tool.id)).map(nameOf)),
      truncation: config.truncation,
      remindersEnabled,
    };
    const callback =
      link === undefined
        ? undefined
        : await connectCallback(link, {
            usesSubagents: tools.some(startsSubagents),
            required: ports.callbacks.required,
            signal: sessionSignal,
            ...scope,
          });
    outbox.open(callback?.isConnected === true ? link : undefined);
    const warnings = [
      ...(isCorrupt ? ["state_corrupt"] : []),
      ...skipped.map((key) => `initial_state_skipped:${key}`),
      ...unknownTruncationKeys(tools, config.truncation).map((key) => `truncation_unknown_tool:${key}`),
    ];
    return { toolset, warnings, callback };
  } catch (thrown) {
    await resources[Symbol.asyncDispose]();
    throw thrown;
  }
}

/** The tool with a description that knows the session. */
async function describeInSession(tool: ConfiguredTool, scope: SessionScope): Promise<ConfiguredTool> {
  const description = await tool.registered.tool.describeInSession?.(tool.description, scope);
  return description === undefined ? tool : { ...tool, description };
}

function startsSubagents({ registered }: ConfiguredTool): boolean {
  const { kind, id } = registered.tool;
  return kind === "task" || kind === "workflow" || id === "GrokBuild:scheduler_create";
}

const nameOf = ({ clientName }: ConfiguredTool): string => clientName;

/** Concise tools come without reminders, whatever the request says. */
function isConciseSet({ entries }: ValidConfig): boolean {
  return entries.some(({ registered }) => registered.namespace === "GrokBuildConcise");
}

function versionWarningsOf({ entries, preset }: ValidConfig): VersionWarning[] {
  const versions = entries.map(({ registered, behaviorVersion }) => ({
    tool: registered.tool,
    version: behaviorVersion,
  }));
  return versionWarnings(preset, versions);
}
