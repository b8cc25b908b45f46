import { mkdir } from "node:fs/promises";
import type { RuntimePorts } from "../runtime-ports.ts";
import type { SessionScope } from "../session-resource.ts";
import { sessionFolder } from "../state/session-folder.ts";
import { SessionResources } from "../state/session-resources.ts";
import { noSubagents } from "../subagents/no-subagents.ts";
import type { ConfiguredTool } from "./configured-tool.ts";
import type { SessionDirectory } from "./session-directory.ts";

/** What the scope of a session is made of. */
export interface ScopeRequest extends SessionDirectory {
  readonly sessionId: string;
  /** Names the session's folder. */
  readonly folderKey: string;
  readonly tools: readonly ConfiguredTool[];
  readonly sessionSignal: AbortSignal;
  stateChanged(): void;
}

/** Makes the session's private folder and the scope that resources and calls see. */
export async function openScope(
  ports: RuntimePorts,
  request: ScopeRequest,
): Promise<{ scope: SessionScope; resources: SessionResources }> {
  const { sessionId, directory, workspaceRoots, sessionSignal, tools } = request;
  const { clock, ids, settings, environment, homeDirectory, commandRunner, programRunner } = ports;
  const folder = sessionFolder(ports.dataDir, request.folderKey);
  await mkdir(folder, { recursive: true, mode: 0o700 });
  const scope: SessionScope = {
    sessionId,
    sessionDirectory: directory,
    sessionFolder: folder,
    dataDir: ports.dataDir,
    sessionSignal,
    clock,
    ids,
    logger: ports.logger.child({ sessionId }),
    settings,
    workspaceRoots,
    environment,
    secretVariables: ports.secretVariables,
    homeDirectory,
    commandRunner,
    programRunner,
    resource: (definition) => resources.get(definition),
    stateChanged: () => request.stateChanged(),
    subagents: noSubagents,
    notify: () => {},
    configuredTools: tools.map(({ registered, clientName }) => ({
      id: registered.tool.id,
      kind: registered.tool.kind,
      clientName,
    })),
    toolName: (kind) => tools.find(({ registered }) => registered.tool.kind === kind)?.clientName,
  };
  const resources = new SessionResources(scope);
  return { scope, resources };
}
