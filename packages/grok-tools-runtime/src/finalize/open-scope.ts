import { mkdir } from "node:fs/promises";
import type { CallbackLink } from "../notifications/callback-dialer.ts";
import { toFileWritten } from "../notifications/file-written.ts";
import { NotificationOutbox } from "../notifications/notification-outbox.ts";
import type { RuntimePorts } from "../runtime-ports.ts";
import type { ResourceDefinition, SessionScope } from "../session-resource.ts";
import { taskRegistry } from "../shell/task-registry.ts";
import { sessionFolder } from "../state/session-folder.ts";
import { SessionResources } from "../state/session-resources.ts";
import { SubagentCoordinator } from "../subagents/coordinator.ts";
import { SubagentTypes } from "../subagents/definitions/subagent-types.ts";
import { subagentLimits } from "../subagents/subagent-limits.ts";
import type { SubagentSession } from "../subagents/subagent-session.ts";
import type { ConfiguredTool } from "./configured-tool.ts";
import type { SessionDirectory } from "./session-directory.ts";

/** What the scope of a session is made of. */
export interface ScopeRequest extends SessionDirectory {
  readonly sessionId: string;
  /** Names the session's folder. */
  readonly folderKey: string;
  readonly tools: readonly ConfiguredTool[];
  /** The session itself, for its children. */
  readonly session: SubagentSession;
  readonly sessionSignal: AbortSignal;
  /** The client's callback service. */
  readonly callback: { readonly address: string; readonly secret: string | undefined } | undefined;
  stateChanged(): void;
}

/** The scope of a session with what works behind it. Disposing the resources ends all of it. */
export interface OpenedScope {
  readonly scope: SessionScope;
  readonly resources: SessionResources;
  /** Waits to be opened. */
  readonly outbox: NotificationOutbox;
  /** Not connected yet. */
  readonly link: CallbackLink | undefined;
  /** Part of the resources once it is asked for; they end in reverse order. */
  readonly children: ResourceDefinition<SubagentCoordinator>;
}

/** Makes the session's private folder and the scope that resources and calls see. */
export async function openScope(ports: RuntimePorts, request: ScopeRequest): Promise<OpenedScope> {
  const { sessionId, directory, workspaceRoots, sessionSignal, tools, callback } = request;
  const { clock, ids, settings, environment, homeDirectory, commandRunner, programRunner } = ports;
  const folder = sessionFolder(ports.dataDir, request.folderKey);
  await mkdir(folder, { recursive: true, mode: 0o700 });
  const logger = ports.logger.child({ sessionId });
  const link = callback === undefined ? undefined : ports.callbacks.dialer.open({ ...callback, sessionId });
  const outbox = new NotificationOutbox({ clock, logger });
  const base: Omit<SessionScope, "subagents"> = {
    sessionId,
    sessionDirectory: directory,
    sessionFolder: folder,
    dataDir: ports.dataDir,
    sessionSignal,
    clock,
    ids,
    logger,
    settings,
    workspaceRoots,
    environment,
    secretVariables: ports.secretVariables,
    homeDirectory,
    commandRunner,
    programRunner,
    workflowEngine: ports.workflowEngine,
    resource: (definition) => resources.get(definition),
    stateChanged: () => request.stateChanged(),
    notify: (notification) => outbox.add(notification),
    configuredTools: tools.map(({ registered, clientName, parameterNames }) => ({
      id: registered.tool.id,
      kind: registered.tool.kind,
      clientName,
      parameterNames,
    })),
    toolName: (kind) => tools.find(({ registered }) => registered.tool.kind === kind)?.clientName,
  };
  const limits = subagentLimits(environment);
  const coordinator = new SubagentCoordinator({
    scope: base,
    tools,
    host: ports.host,
    runner: runnerOf(link, ports),
    session: request.session,
    limits,
    types: new SubagentTypes({
      readsDefinitions: settings.agentDefinitions,
      directory,
      homeDirectory,
      workspaceRoots,
      timeoutMs: limits.validationMs,
      clock,
      logger,
    }),
  });
  const scope: SessionScope = { ...base, subagents: coordinator };
  const resources = new SessionResources(scope);
  // The first to be made is the last to end: until then others have something to tell.
  resources.get(notificationsOf(outbox, link));
  return { scope, resources, outbox, link, children: childrenOf(coordinator, scope) };
}

/** The client's service when it has named one, whether or not it answers; else the runner of this process. */
function runnerOf(
  link: CallbackLink | undefined,
  { subagentRunner }: RuntimePorts,
): ConstructorParameters<typeof SubagentCoordinator>[0]["runner"] {
  if (link !== undefined) return { kind: "callback", runner: link };
  return subagentRunner === undefined ? undefined : { kind: "local", runner: subagentRunner };
}

function notificationsOf(
  outbox: NotificationOutbox,
  link: CallbackLink | undefined,
): ResourceDefinition<SessionScope> {
  return {
    name: "notifications",
    create: (scope) => scope,
    fileTouched({ settings }, file) {
      // The content is decoded when it is looked at.
      if (outbox.isClosed) return;
      const notification = toFileWritten(file, settings.fileWrittenContent);
      if (notification !== undefined) outbox.add(notification);
    },
    async dispose() {
      await outbox.close();
      await link?.[Symbol.asyncDispose]();
    },
  };
}

function childrenOf(
  coordinator: SubagentCoordinator,
  scope: SessionScope,
): ResourceDefinition<SubagentCoordinator> {
  return {
    name: "subagents",
    create: () => coordinator,
    dispose: () => coordinator.close(),
    isBusy: () => coordinator.isBusy,
    reminders(_coordinator, call) {
      const completions = coordinator.takeCompletions();
      // Ends of commands and of children are saved as one list of those that were told.
      if (completions.length > 0) scope.resource(taskRegistry).loadReported(completions.map(({ id }) => id));
      return call.areCompletionsMuted ? [] : completions.map(({ text }) => text);
    },
  };
}
