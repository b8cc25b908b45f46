import type { OpenDefaults } from "../controls/open-defaults.ts";
import { CallGate } from "../execute/call-gate.ts";
import { IdempotentCalls } from "../execute/idempotent-calls.ts";
import { type FinalizedToolset, snapshotState } from "../finalized-toolset.ts";
import type { RuntimePorts } from "../runtime-ports.ts";
import { emptyStateDocument, parseStateDocument, type StateDocument } from "../state/state-document.ts";
import { StateFile } from "../state/state-file.ts";
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
  /** Settings made before; they are part of `config` except for params and switched-off tools. */
  readonly open: Pick<OpenDefaults, "params" | "disabled">;
}

/** A finalized toolset and what to tell the caller about it. */
export interface FinalizeResult {
  readonly toolset: FinalizedToolset;
  /** Tokens such as `ignored_param:x`, each once. */
  readonly warnings: readonly string[];
  readonly versionWarnings: readonly VersionWarning[];
}

/**
 * Checks a configuration and builds the session from it. Nothing is left behind when it fails.
 *
 * @throws {@link FinalizeConfigError} for the configuration, {@link TriviumError} `invalidInput` for the folder,
 * `unavailable` when the saved state is there but cannot be read.
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
  const built = configureTools(valid.entries, { ...ports, truncation: config.truncation, remindersEnabled });
  const { toolset, warnings } = await buildToolset(ports, request, {
    directory,
    tools: built.tools,
    initialState,
    remindersEnabled,
  });
  return {
    toolset,
    warnings: [...new Set([...valid.warnings, ...built.warnings, ...warnings])],
    versionWarnings: versionWarningsOf(valid),
  };
}

interface Parts {
  readonly directory: SessionDirectory;
  readonly tools: readonly ConfiguredTool[];
  readonly initialState: StateDocument;
  readonly remindersEnabled: boolean;
}

async function buildToolset(
  ports: RuntimePorts,
  { config, sessionId, folderKey, sessionSignal, open }: FinalizeRequest,
  { directory, tools, initialState, remindersEnabled }: Parts,
): Promise<{ toolset: FinalizedToolset; warnings: string[] }> {
  let toolset: FinalizedToolset | undefined;
  const stateChanged = (): void => {
    const changed = toolset;
    changed?.stateFile.schedule(() => snapshotState(changed));
  };
  const scopeRequest = { ...directory, sessionId, folderKey, tools, sessionSignal, stateChanged };
  const { scope, resources } = await openScope(ports, scopeRequest);
  try {
    const stateFile = new StateFile(scope.sessionFolder, scope);
    const { document: disk, isCorrupt } = await stateFile.load();
    const skipped = loadResources(resources, tools, { disk, initial: initialState });
    const repeatedCalls = new IdempotentCalls(scope.sessionFolder, ports);
    await repeatedCalls.sweep();
    toolset = {
      scope,
      tools,
      byName: new Map(tools.map((tool) => [tool.clientName, tool])),
      resources,
      stateFile,
      gate: new CallGate(),
      repeatedCalls,
      params: paramsByKey(tools, [disk, initialState]),
      configuredParams: configuredByKey(tools),
      toolVersion: ports.toolVersion,
      disabled: new Set(tools.filter(({ registered }) => open.disabled.has(registered.tool.id)).map(nameOf)),
      truncation: config.truncation,
      remindersEnabled,
    };
    const warnings = [
      ...(isCorrupt ? ["state_corrupt"] : []),
      ...skipped.map((key) => `initial_state_skipped:${key}`),
      ...unknownTruncationKeys(tools, config.truncation).map((key) => `truncation_unknown_tool:${key}`),
    ];
    return { toolset, warnings };
  } catch (thrown) {
    await resources[Symbol.asyncDispose]();
    throw thrown;
  }
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
