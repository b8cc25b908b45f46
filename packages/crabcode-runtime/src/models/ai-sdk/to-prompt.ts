import type {
  LanguageModelV4Message,
  LanguageModelV4Prompt,
  LanguageModelV4ToolResultPart,
  SharedV4ProviderMetadata,
} from "@ai-sdk/provider";
import type { Message, MessageBlock } from "../../conversation/message.ts";

type AssistantMessage = Extract<LanguageModelV4Message, { role: "assistant" }>;

/** How much of a history one provider gets. */
export interface PromptOptions {
  /**
   * Key under which this provider keeps what it wants back with its reasoning. Reasoning without that key is left
   * out: providers reject what they did not sign. Undefined: reasoning is never sent.
   */
  readonly reasoningKey?: string | undefined;
  /** The same for calls: some providers sign them. */
  readonly callKey?: string | undefined;
  /** Sends reasoning as plain text, for servers that read it back so. */
  readonly passReasoningText?: boolean | undefined;
}

/**
 * A request's system strings and history in the form the provider packages take.
 *
 * Neighbouring messages of one role become one: several providers insist on alternation. Blank texts are left
 * out: some providers reject them.
 */
export function toPrompt(
  { system, messages }: { readonly system: readonly string[]; readonly messages: readonly Message[] },
  options: PromptOptions = {},
): LanguageModelV4Prompt {
  const prompt: LanguageModelV4Prompt = [];
  const instructions = system.filter((part) => part.trim() !== "").join("\n\n");
  if (instructions !== "") prompt.push({ role: "system", content: instructions });
  const toolNames = new Map<string, string>();
  for (const { role, blocks } of joinedByRole(messages)) {
    if (role === "assistant") {
      for (const block of blocks) if (block.type === "tool_use") toolNames.set(block.id, block.name);
      const content = assistantContent(blocks, options);
      if (content.length > 0) prompt.push({ role, content });
    } else {
      prompt.push(...userMessages(blocks, toolNames));
    }
  }
  return prompt;
}

function joinedByRole(messages: readonly Message[]): { role: Message["role"]; blocks: MessageBlock[] }[] {
  const joined: { role: Message["role"]; blocks: MessageBlock[] }[] = [];
  for (const message of messages) {
    const last = joined.at(-1);
    if (last?.role === message.role) last.blocks.push(...message.content);
    else joined.push({ role: message.role, blocks: [...message.content] });
  }
  return joined;
}

function assistantContent(
  blocks: readonly MessageBlock[],
  options: PromptOptions,
): AssistantMessage["content"] {
  const content: AssistantMessage["content"] = [];
  for (const block of blocks) {
    if (block.type === "text" && block.text.trim() !== "") content.push({ type: "text", text: block.text });
    if (block.type === "tool_use") {
      const meta = metaFor(options.callKey, block.provider_meta);
      content.push({
        type: "tool-call",
        toolCallId: block.id,
        toolName: block.name,
        input: block.input,
        ...(meta !== undefined && { providerOptions: meta }),
      });
    }
    if (block.type === "thinking") {
      const meta = metaFor(options.reasoningKey, block.provider_meta);
      if (meta !== undefined)
        content.push({ type: "reasoning", text: block.thinking, providerOptions: meta });
      else if (options.passReasoningText === true) content.push({ type: "reasoning", text: block.thinking });
    }
  }
  return content;
}

function metaFor(
  key: string | undefined,
  meta: Readonly<Record<string, unknown>> | undefined,
): SharedV4ProviderMetadata | undefined {
  const value = key === undefined ? undefined : meta?.[key];
  if (key === undefined || typeof value !== "object" || value === null) return undefined;
  // It is JSON: it came from the provider and was stored as it was.
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion
  return { [key]: value } as SharedV4ProviderMetadata;
}

/** Results first: that is where every provider looks for them, directly after the calls. */
function userMessages(
  blocks: readonly MessageBlock[],
  toolNames: ReadonlyMap<string, string>,
): LanguageModelV4Message[] {
  const results: LanguageModelV4ToolResultPart[] = [];
  const texts: string[] = [];
  for (const block of blocks) {
    if (block.type === "text" && block.text.trim() !== "") texts.push(block.text);
    if (block.type === "tool_result") {
      results.push({
        type: "tool-result",
        toolCallId: block.tool_use_id,
        toolName: toolNames.get(block.tool_use_id) ?? "unknown",
        output: { type: block.is_error ? "error-text" : "text", value: block.content },
      });
    }
  }
  const messages: LanguageModelV4Message[] = [];
  if (results.length > 0) messages.push({ role: "tool", content: results });
  // One text, not several parts: simple servers take a string only.
  if (texts.length > 0)
    messages.push({ role: "user", content: [{ type: "text", text: texts.join("\n\n") }] });
  return messages;
}
