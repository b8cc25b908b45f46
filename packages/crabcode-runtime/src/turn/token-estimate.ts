import type { Message, MessageBlock } from "../conversation/message.ts";
import type { ModelTool } from "../ports/model-port.ts";

/**
 * Tokens of a text, by rule of thumb: a quarter per character, more for characters of several bytes.
 *
 * 0 for an empty text, at least 1 for any other.
 */
export function estimateTokens(text: string): number {
  if (text === "") return 0;
  let chars = 0;
  let bytes = 0;
  for (const char of text) {
    const code = char.codePointAt(0) ?? 0;
    chars++;
    bytes += code < 0x80 ? 1 : code < 0x800 ? 2 : code < 0x1_0000 ? 3 : 4;
  }
  return Math.max(1, Math.floor(chars * (0.25 + (bytes / chars - 1) * 0.625)));
}

/** Tokens of a whole request. */
export function estimateRequest(request: {
  readonly system: readonly string[];
  readonly messages: readonly Message[];
  readonly tools: readonly ModelTool[];
}): number {
  let tokens = 0;
  for (const text of request.system) tokens += estimateTokens(text);
  tokens += estimateMessages(request.messages);
  for (const tool of request.tools) tokens += estimateTool(tool);
  return tokens;
}

/** Tokens of messages alone. */
export function estimateMessages(messages: readonly Message[]): number {
  return messages.reduce((sum, message) => sum + estimateMessage(message), 0);
}

// Messages and tools do not change once made, and each is counted again in every request.
const tokensOf = new WeakMap<object, number>();

function estimateMessage(message: Message): number {
  return remembered(message, () => message.content.reduce((sum, block) => sum + estimateBlock(block), 0));
}

function estimateTool(tool: ModelTool): number {
  return remembered(tool, () =>
    estimateTokens(`${tool.name}${tool.description}${JSON.stringify(tool.inputSchema)}`),
  );
}

function estimateBlock(block: MessageBlock): number {
  switch (block.type) {
    case "text":
      return estimateTokens(block.text);
    case "thinking":
      return estimateTokens(block.thinking);
    case "tool_use":
      return estimateTokens(block.name) + estimateTokens(JSON.stringify(block.input));
    case "tool_result":
      return estimateTokens(block.content);
  }
}

function remembered(key: object, count: () => number): number {
  let tokens = tokensOf.get(key);
  if (tokens === undefined) {
    tokens = count();
    tokensOf.set(key, tokens);
  }
  return tokens;
}
