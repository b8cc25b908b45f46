import type { ErrorCode, ToolCategory } from "@trivium/proto/grok-tools";
import type { z } from "zod";
import type { CallOptions } from "./execute/call-options.ts";
import { toInputError } from "./input/input-error.ts";
import type { JsonObject } from "./json.ts";
import type { ChoiceAsker } from "./questions/choice-asker.ts";
import type { ResourceDefinition, SessionScope, TouchedFile } from "./session-resource.ts";
import type { SubagentHost } from "./subagents/subagents.ts";
import { categoryOfKind, type ToolKind } from "./tool-kind.ts";
import type { ParamsDefinition } from "./tool-params.ts";

/** One tool as the registry holds it. Made with {@link defineTool}; input and params are checked before `run`. */
export interface Tool {
  /** Fully qualified, `Namespace:name`. The part after the colon is the default client name. */
  readonly id: string;
  readonly kind: ToolKind;
  readonly category: ToolCategory;
  readonly capabilities: ToolCapabilities;
  /** Present for version-managed tools; the first is not special, `current` is always among them. */
  readonly behaviorVersions: readonly BehaviorVersion[];
  readonly description: string | ((context: DescriptionContext) => string);
  readonly input: z.ZodType;
  readonly params: ParamsDefinition | undefined;
  readonly output: ToolOutputDefinition;
  readonly resources: readonly ResourceDefinition[];
  readonly dependency: ToolDependency | undefined;
  readonly truncation: ToolTruncation;
  requires(context: RequirementContext): RequirementFailure | undefined;
  specialiseInput(schema: JsonObject, params: unknown): JsonObject;
  describeInSession?(description: string, scope: SessionScope): Promise<string>;
  /**
   * Checks the input (canonical names) and runs.
   *
   * @throws {@link ToolError} for a missing or wrong parameter, and whatever else the tool cannot put into its output.
   */
  run(input: JsonObject, context: ToolContext<unknown>): Promise<ToolResult>;
}

/** What `ToolInfo.capabilities` says, and what the dispatcher needs to know. */
export interface ToolCapabilities {
  readonly readOnly: boolean;
  /** It can block longer than a second and ends early when its signal aborts. */
  readonly cancellable?: boolean;
  /** It reports progress while it runs. */
  readonly streaming?: boolean;
  /** Canonical name of the boolean input that moves the call to the background; `ExecutionOptions.background` sets it. */
  readonly backgroundParameter?: string;
  /** It can run in the background although no input says so. */
  readonly alwaysBackground?: boolean;
  /**
   * Canonical name of the tool's own time-out input. Without it in a call, `ExecutionOptions.timeout_ms` reaches the
   * tool as `context.timeoutMs` and the dispatcher waits one second longer than that.
   */
  readonly timeoutParameter?: string;
  /** It has a time-out of its own, in an input or by configuration. Default: whether `timeoutParameter` is set. */
  readonly supportsTimeout?: boolean;
  /** Calls that run commands or only wait do not take one of the session's 64 places. Default false. */
  readonly unlimitedCalls?: boolean;
  /** Default: `read` when `readOnly`, else `write`. */
  readonly scope?: "read" | "write";
  /** Further entries of `custom_capabilities`. */
  custom?(settings: SessionScope["settings"]): readonly string[];
  /** With these params the tool can start background tasks that task tools act on. */
  providesBackgroundTasks?(params: unknown): boolean;
}

/** One version of a tool's behaviour that callers can ask for. */
export interface BehaviorVersion {
  readonly version: string;
  readonly lifecycle: "active" | "deprecated" | "removal-candidate";
  /** What to use instead, when not active. */
  readonly replacement?: string;
}

/** A backend the tool cannot work without. While it is missing the tool answers NOT_IMPLEMENTED. */
export interface ToolDependency {
  /** Name for `details_json.unavailable`, for example `web_search_provider`. */
  readonly name: string;
  /** The setting that configures it, for example `tools.webSearch`. */
  readonly setting: string;
  /** @param session the session that would use the tool; before finalize what is known without it */
  isConfigured(settings: SessionScope["settings"], session: DependencySession): boolean;
  /** What a caller can do about it. Default: to configure the setting on the server. */
  readonly suggestion?: string;
}

/** The backends that a session has rather than the server. */
export interface DependencySession {
  readonly subagentHost: SubagentHost;
  /** Folder of the session; before finalize the workspace. */
  readonly directory: string;
  readonly homeDirectory: string | undefined;
}

/** The union value a tool answers with, for `ToolInfo`. */
export interface ToolOutputDefinition {
  /** Schema of the complete union value, `type` included, as it travels by default (byte buffers as integer arrays). */
  readonly schema: z.ZodType;
  /** Keys of the payload of a success. */
  readonly fields: readonly OutputField[];
}

/** One key of the payload of a success. */
export interface OutputField {
  readonly name: string;
  readonly description: string;
  readonly type: "string" | "number" | "boolean" | "array" | "object";
  readonly potentiallyLarge?: boolean;
  /** Left out under CONCISE. Byte buffers and `*_concise` keys. */
  readonly defaultOnly?: boolean;
}

/** Size limits of a tool's text. */
export interface ToolTruncation {
  /** Number.POSITIVE_INFINITY for a tool that limits its text in another way. */
  readonly builtInMaxOutput: number;
  /** What the cap counts. Default bytes. */
  readonly unit?: "bytes" | "characters";
  /** Further keys of `per_tool_max_output_bytes` that mean this tool. */
  readonly legacyKeys?: readonly string[];
  /** The cap from the tool's own params; undefined or null when they set none. */
  fromParams?(params: unknown): number | null | undefined;
}

/** What a description may depend on. */
export interface DescriptionContext<Params = unknown> {
  readonly params: Params;
  readonly toolset: ToolsetView;
  readonly remindersEnabled: boolean;
}

/** The proposed toolset, for requirements and descriptions. */
export interface ToolsetView {
  hasKind(kind: ToolKind): boolean;
  hasTool(id: string): boolean;
  /** Some tool of the kind has all these canonical input properties. */
  hasKindWithInputs(kind: ToolKind, properties: readonly string[]): boolean;
  /** Some tool, other than those named, can start background tasks with its effective params. */
  hasBackgroundProvider(exceptIds?: readonly string[]): boolean;
}

export interface RequirementContext<Params = unknown> {
  readonly params: Params;
  readonly toolset: ToolsetView;
}

/** Why a toolset is not complete. */
export interface RequirementFailure {
  readonly message: string;
  /** For example `params.enabled_background` or `tools`. */
  readonly fieldPath?: string;
  /** What would be right. */
  readonly expected?: string;
}

/** One call, seen from the tool. Everything a tool needs is here; it reads no globals. */
export interface ToolContext<Params = unknown> extends SessionScope {
  readonly callId: string;
  /** Aborts on cancel, time-out and the end of the session. Pass it on; end what you started when it aborts. */
  readonly signal: AbortSignal;
  /** Folder relative paths refer to: the session's or the call's own. Absolute, exists. */
  readonly workingDirectory: string;
  readonly params: Params;
  /** Undefined for tools without versions. */
  readonly behaviorVersion: string | undefined;
  /** Time-out given by the caller that the tool should apply itself; see `timeoutParameter`. */
  readonly timeoutMs: number | undefined;
  /** Limits that apply to this tool, after all overrides. */
  readonly limits: ToolLimits;
  readonly remindersEnabled: boolean;
  /** The name the caller uses for one of this tool's top-level parameters. Messages must use it. */
  readonly parameterName: (canonicalName: string) => string;
  /** Turn of the host's model that this call belongs to, when it said so. */
  readonly promptId: string | undefined;
  /** Asks people about choices. Absent: questions wait in the session's own list. */
  readonly choiceAsker?: ChoiceAsker | undefined;
  /** What the call is held to, for work that goes on without it. {@link SessionScope.subagents} knows it already. */
  readonly authorise?: CallOptions["authorise"];
  /** Reports output while the tool runs. Never blocks and never fails. */
  readonly progress: (chunk: ToolProgress) => void;
  /** Every tool that reads, lists or writes a file says so after it did. Never blocks and never fails. */
  readonly touched: (file: Omit<TouchedFile, "callId">) => void;
}

export interface ToolLimits {
  /** Cap of the text, in the unit of the tool's built-in cap. */
  readonly maxOutput: number;
  /** True when the finalize request set the cap; false: the tool's params or its built-in. */
  readonly maxOutputConfigured: boolean;
  /** Lines a read may show. */
  readonly maxLinesRead: number;
}

/** A piece of output of a running tool. */
export interface ToolProgress {
  readonly bytes: Uint8Array;
  /** Position of the first byte in the whole output; a jump means that bytes were left out. */
  readonly offset: number;
}

/**
 * What a tool answers.
 *
 * `output` is the union value: `type` plus flat keys, or plus one key named after the variant. Byte buffers stay
 * `Uint8Array` at the top of the payload; the caller's wish decides their form on the wire.
 */
export interface ToolResult {
  readonly output: ToolOutput;
  /** What the model reads. */
  readonly promptText: string;
  /** The concise rendering, where the tool has one. */
  readonly concisePromptText?: string | undefined;
  /** Payload keys that have another value under CONCISE and no `*_concise` twin in the output. */
  readonly conciseKeys?: Readonly<Record<string, OutputValue>> | undefined;
  /** Set when the output says that the tool could not do what was asked. */
  readonly failure?: LogicalFailure | undefined;
  /** The tool cut its output. */
  readonly truncated?: boolean | undefined;
  /** Images that go to the model, for the token estimate. */
  readonly imageCount?: number | undefined;
}

/** The union value. */
export interface ToolOutput {
  readonly type: string;
  readonly [key: string]: OutputValue | undefined;
}

/** JSON, with byte buffers and with absent keys written as undefined. */
export type OutputValue =
  | null
  | boolean
  | number
  | string
  | Uint8Array
  | readonly OutputValue[]
  | { readonly [key: string]: OutputValue | undefined };

/** The contract's view of an output variant that is a failure. */
export interface LogicalFailure {
  readonly code: ErrorCode;
  /** `details_json.reason`. */
  readonly reason?: string | undefined;
  readonly retryable?: boolean | undefined;
  readonly suggestion?: string | undefined;
  /** Absolute. */
  readonly filePath?: string | undefined;
  /** From 1. */
  readonly lineNumber?: number | undefined;
  /** Further keys of `details_json`. */
  readonly details?: JsonObject | undefined;
}

/** What an author writes; see {@link Tool} for the fields. */
export interface ToolDefinition<Input extends z.ZodType, Params> {
  readonly id: string;
  readonly kind: ToolKind;
  /** Default: that of the kind. */
  readonly category?: ToolCategory;
  readonly capabilities: ToolCapabilities;
  readonly behaviorVersions?: readonly BehaviorVersion[];
  /** May be a template (`${{ tools.by_kind.read }}`, see `finalize/template.ts`). */
  readonly description: string | ((context: DescriptionContext<Params>) => string);
  /** An object schema. Missing keys, wrong types and lenient forms: see `input/lenient.ts`. */
  readonly input: Input;
  readonly params?: ParamsDefinition<Params>;
  readonly output: ToolOutputDefinition;
  /** Resources to make at finalize, so that their saved state is taken over and checked. */
  readonly resources?: readonly ResourceDefinition[];
  readonly dependency?: ToolDependency;
  readonly truncation?: ToolTruncation;
  /** Undefined: the toolset is complete for this tool. */
  requires?(context: RequirementContext<Params>): RequirementFailure | undefined;
  /** Adapts the advertised schema (canonical names) to the effective params. */
  specialiseInput?(schema: JsonObject, params: Params): JsonObject;
  /**
   * Puts what only the session knows into the rendered description, or into a caller's own one. Asked once, at finalize.
   * What comes from files is not rendered as a template this way.
   */
  describeInSession?(description: string, scope: SessionScope): Promise<string>;
  run(input: z.output<Input>, context: ToolContext<Params>): Promise<ToolResult>;
}

/** Cap of tools that do not name one, in bytes. */
const DEFAULT_MAX_OUTPUT = 40_000;

/**
 * A tool from its definition. The result needs no type parameters: the dispatcher parses input and params with the
 * definition's own schemas before it calls `run`.
 */
export function defineTool<Input extends z.ZodType, Params = undefined>(
  definition: ToolDefinition<Input, Params>,
): Tool {
  const { description } = definition;
  const tool: Tool = {
    id: definition.id,
    kind: definition.kind,
    category: definition.category ?? categoryOfKind(definition.kind),
    capabilities: definition.capabilities,
    behaviorVersions: definition.behaviorVersions ?? [],
    description: typeof description === "string" ? description : (context) => description(typed(context)),
    input: definition.input,
    params: definition.params,
    output: definition.output,
    resources: definition.resources ?? [],
    dependency: definition.dependency,
    truncation: definition.truncation ?? { builtInMaxOutput: DEFAULT_MAX_OUTPUT },
    requires: (context) => definition.requires?.(typed(context)),
    specialiseInput: (schema, params) =>
      definition.specialiseInput?.(schema, typed<{ params: Params }>({ params }).params) ?? schema,
    ...(definition.describeInSession !== undefined && {
      describeInSession: async (text: string, scope: SessionScope) =>
        (await definition.describeInSession?.(text, scope)) ?? text,
    }),
    async run(input, context) {
      const parsed = definition.input.safeParse(input);
      if (!parsed.success) throw toInputError(parsed.error, input, context.parameterName);
      return await definition.run(parsed.data, typed(context));
    },
  };
  return tool;
}

/**
 * The params of a call were made by this tool's own schema; the type is erased in {@link Tool} so that a registry
 * can hold tools of all kinds, and comes back here.
 */
function typed<Typed extends { readonly params: unknown }>(erased: { readonly params: unknown }): Typed {
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- erased by this file, parsed by the tool's schema
  return erased as Typed;
}
