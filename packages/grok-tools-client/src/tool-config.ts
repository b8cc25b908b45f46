import type { MessageInitShape } from "@bufbuild/protobuf";
import type { FinalizeToolServerConfigRequestSchema, ToolConfigEntrySchema } from "@trivium/proto/grok-tools";
import type { CallbackAddress } from "./callback-address.ts";

/** One tool to configure. */
export interface ToolConfig {
  /** `Namespace:tool`; the default name follows the first colon. */
  readonly id: string;
  /** The tool's options; see `options_schema_json` of its info. */
  readonly params?: Readonly<Record<string, unknown>>;
  /** The name for the model: letters, digits, `_`, `-`, one colon at most. */
  readonly name?: string;
  /** Canonical parameter name → name for the model. */
  readonly parameterNames?: Readonly<Record<string, string>>;
  readonly behaviorVersion?: string;
  readonly description?: string;
}

/** Tools of a session and how they behave. */
export interface ToolSessionConfig {
  /** Ids, or entries with options. Their order is kept. */
  readonly tools: readonly (string | ToolConfig)[];
  /** Folder of the session on the server, absolute or relative to the server's workspace. */
  readonly cwd?: string;
  /** CrabCode session of the same server whose people are asked what `ask_user_question` asks. */
  readonly permissionSession?: string;
  /** Add notices about background work to texts. Default false. */
  readonly reminders?: boolean;
  /** From {@link ToolSession.state} of an earlier session. */
  readonly initialState?: unknown;
  readonly behaviorPreset?: string;
  /** Where the server sends notifications and has subagents run. */
  readonly callbacks?: CallbackAddress | undefined;
  readonly truncation?: MessageInitShape<typeof FinalizeToolServerConfigRequestSchema>["truncation"];
}

/** The request for a configuration. */
export function toFinalizeRequest(
  config: ToolSessionConfig,
): MessageInitShape<typeof FinalizeToolServerConfigRequestSchema> {
  const { tools, reminders, initialState, behaviorPreset, truncation, callbacks } = config;
  return {
    tools: tools.map(toEntry),
    systemRemindersEnabled: reminders ?? false,
    ...(initialState !== undefined && { initialToolStateJson: JSON.stringify(initialState) }),
    ...(behaviorPreset !== undefined && { behaviorPreset }),
    ...(truncation !== undefined && { truncation }),
    ...(callbacks !== undefined && { clientCallbackAddr: callbacks.address }),
    ...(callbacks?.secret !== undefined && { clientCallbackSecret: callbacks.secret }),
  };
}

function toEntry(tool: string | ToolConfig): MessageInitShape<typeof ToolConfigEntrySchema> {
  if (typeof tool === "string") return { id: tool };
  const { id, params, name, parameterNames, behaviorVersion, description } = tool;
  return {
    id,
    ...(params !== undefined && { paramsJson: JSON.stringify(params) }),
    ...(name !== undefined && { nameOverride: name }),
    ...(parameterNames !== undefined && { paramsNameOverrides: { ...parameterNames } }),
    ...(behaviorVersion !== undefined && { behaviorVersion }),
    ...(description !== undefined && { descriptionOverride: description }),
  };
}

/** The name a tool has unless it is given another: what follows the first colon of its id, up to the next. */
export function defaultClientName(id: string): string {
  return id.split(":", 2)[1] ?? id;
}
