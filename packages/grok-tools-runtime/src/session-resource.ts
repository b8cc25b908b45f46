import type { Clock, IdSource, Logger } from "@trivium/core";
import type { JsonObject, JsonValue } from "./json.ts";
import type { ToolNotification } from "./notifications/tool-notification.ts";
import type { CommandRunner } from "./process/command-runner.ts";
import type { ProgramRunner } from "./process/program-runner.ts";
import type { Subagents } from "./subagents/subagents.ts";
import type { ToolOutput } from "./tool.ts";
import type { ToolError } from "./tool-error.ts";
import type { ToolKind } from "./tool-kind.ts";
import type { ToolSettings } from "./tool-settings.ts";
import type { WorkflowEngine } from "./workflow/workflow-engine.ts";

/**
 * Something tools keep for the life of a session (a read tracker, the background tasks). Made on first use, at the
 * latest at finalize when a configured tool lists it, and disposed with the session in reverse order.
 *
 * Identity is the object: define it once as a module constant and import it where it is needed.
 */
export interface ResourceDefinition<Resource = unknown> {
  /** For logs and errors. */
  readonly name: string;
  create(scope: SessionScope): Resource;
  /** The params of a tool that lists the resource, told at finalize after what was saved. */
  configure?(resource: Resource, params: JsonObject): void;
  /** Ends what the resource started. Called once; commands, timers and files end here. */
  dispose?(resource: Resource): void | Promise<void>;
  /** The part that survives in the tool state. */
  readonly state?: ResourceState<Resource>;
  /** Background work that keeps an idle session open. */
  isBusy?(resource: Resource): boolean;
  /**
   * Texts for the model, each delivered once, asked for after a successful call when reminders are enabled. Leave
   * the texts pending until asked. A promise may take half a second; its failure is logged.
   */
  reminders?(resource: Resource, call: FinishedCall): readonly string[] | Promise<readonly string[]>;
  /** Ends of background work are no news for the model now, nor later. */
  mutesCompletions?(resource: Resource): boolean;
  /** Looks at every call before it runs; an error refuses it. */
  refuse?(resource: Resource, call: AdmittedCall): ToolError | undefined;
  /** A tool has read, listed or written something. Must not throw and not wait. */
  fileTouched?(resource: Resource, file: TouchedFile): void;
}

/** A call about to run, as a resource that may refuse it sees it. */
export interface AdmittedCall {
  /** Fully qualified id of the tool. */
  readonly toolId: string;
  readonly kind: ToolKind;
  readonly readOnly: boolean;
  /** Canonical names. */
  readonly input: JsonObject;
  /** Folder relative paths refer to. */
  readonly workingDirectory: string;
}

/** A file or folder that a tool has used. */
export interface TouchedFile {
  readonly access: "read" | "list" | "write" | "delete";
  /** Absolute. */
  readonly path: string;
  readonly callId: string;
  /** Of a write: the content before (null: a new file) and after. To be looked at at once: it is made when it is. */
  readonly content?: { readonly before: string | null; readonly after: string } | undefined;
}

/** A successful call, as reminders see it. */
export interface FinishedCall {
  readonly callId: string;
  /** Fully qualified id of the tool. */
  readonly toolId: string;
  readonly output: ToolOutput;
  /** Ends of background work count as told without being told. */
  readonly areCompletionsMuted: boolean;
}

/** How a resource appears in `GetToolState` and in the state file. */
export interface ResourceState<Resource> {
  /** Key under `state`, for example `grok_build.Todo`; our own start with `trivium.`. */
  readonly key: string;
  /** Takes over a saved value. False: it cannot be decoded; nothing changed. */
  load(resource: Resource, value: JsonValue): boolean;
  /** The value to save; undefined leaves the key out. Called once more after `dispose`. */
  save(resource: Resource): JsonValue | undefined;
}

/** What a session offers to its resources and, as part of {@link ToolContext}, to every call. */
export interface SessionScope {
  /** `session_id` of the session: owner of background tasks. */
  readonly sessionId: string;
  /** Folder of the session, absolute, without symbolic links. */
  readonly sessionDirectory: string;
  /** Private folder for logs and artefacts, absolute. It exists. */
  readonly sessionFolder: string;
  /** Folder of the server's data, with those of all sessions. Not for tools; sandboxes hide it. */
  readonly dataDir: string;
  /** Aborts when the session ends. */
  readonly sessionSignal: AbortSignal;
  readonly clock: Clock;
  readonly ids: IdSource;
  readonly logger: Logger;
  readonly settings: ToolSettings;
  /** Folders that paths must stay in, as real paths; undefined: no limit. The session folder is readable besides. */
  readonly workspaceRoots: readonly string[] | undefined;
  /** Environment variables of the server, for building a command's environment and finding the shell. */
  readonly environment: Readonly<Record<string, string | undefined>>;
  /** Names of variables that no command gets, whatever the rules for its environment say. */
  readonly secretVariables: readonly string[];
  /** Expands a leading `~`; undefined when unknown. */
  readonly homeDirectory: string | undefined;
  readonly commandRunner: CommandRunner;
  readonly programRunner: ProgramRunner;
  /** Runs the scripts of workflows; undefined when this server runs none. */
  readonly workflowEngine: WorkflowEngine | undefined;
  /** The resource of this session, made on first use. */
  resource<Resource>(definition: ResourceDefinition<Resource>): Resource;
  /** Children of this session. */
  readonly subagents: Subagents;
  /** Tells the session's host. Never waits and never fails; without a host nothing happens. */
  notify(notification: ToolNotification): void;
  /** Call after a change of saved state outside a tool call (inside one it happens by itself). */
  stateChanged(): void;
  /** Client name of the first configured tool of a kind, for messages that refer to it. */
  toolName(kind: string): string | undefined;
  /** The configured tools, in the order of the configuration. */
  readonly configuredTools: readonly ConfiguredToolName[];
}

/** A configured tool as its siblings see it. */
export interface ConfiguredToolName {
  /** Fully qualified. */
  readonly id: string;
  readonly kind: ToolKind;
  readonly clientName: string;
  /** Canonical name → client name of the parameters that have another. */
  readonly parameterNames?: Readonly<Record<string, string>>;
}
