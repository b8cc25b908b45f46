/** The arguments of a tool call. */
export type ToolInput = Readonly<Record<string, unknown>>;

/** A call of a tool. */
export interface ToolUseBlock {
  readonly type: "tool_use";
  readonly id: string;
  readonly name: string;
  readonly input: ToolInput;
  /** As for thinking. */
  readonly provider_meta?: Readonly<Record<string, unknown>>;
}

/** One block of a message. The stored and the internal form are the same. */
export type MessageBlock =
  | { readonly type: "text"; readonly text: string }
  | {
      readonly type: "thinking";
      readonly thinking: string;
      /** What the provider wants back with the block, such as a signature. */
      readonly provider_meta?: Readonly<Record<string, unknown>>;
    }
  | ToolUseBlock
  | {
      readonly type: "tool_result";
      readonly tool_use_id: string;
      readonly content: string;
      readonly is_error: boolean;
    };

/** Why a message is not an ordinary one. `partial`: cut by an interrupt or a failure. */
export type MessageOrigin = "partial" | "task-notification" | "compact-summary" | "skill";

/** One message of a history. User messages carry tool results too. */
export interface Message {
  readonly role: "user" | "assistant";
  readonly content: readonly MessageBlock[];
  readonly origin?: MessageOrigin;
}
