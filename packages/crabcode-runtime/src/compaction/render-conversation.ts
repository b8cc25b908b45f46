import type { Message, MessageBlock } from "../conversation/message.ts";
import { estimateTokens } from "../turn/token-estimate.ts";
import { shortenText } from "./shorten-results.ts";

const MAX_BLOCK_CHARS = 2_000;

/**
 * A conversation as text for the model that summarises it: the texts whole, calls and results shortened, no thinking.
 * When it is larger than `maxTokens`, long texts are cut, then messages after the first are left out, oldest first.
 *
 * Plain text rather than messages: providers refuse calls in a request that offers no tools.
 */
export function renderConversation(messages: readonly Message[], maxTokens: number): string {
  const whole = messages.map((message) => renderMessage(message)).filter((text) => text !== "");
  if (sizeOf(whole) <= maxTokens) return whole.join("\n\n");
  // A quarter of the room for one message; a token is at least one character.
  const cut = whole.map((text) => shortenText(text, Math.max(MAX_BLOCK_CHARS, Math.floor(maxTokens / 4))));
  if (sizeOf(cut) <= maxTokens) return cut.join("\n\n");
  const [first = "", ...rest] = cut;
  let left = maxTokens - estimateTokens(first);
  const kept: string[] = [];
  for (const text of rest.toReversed()) {
    left -= estimateTokens(text);
    if (left < 0) break;
    kept.unshift(text);
  }
  return [first, `(${rest.length - kept.length} messages left out)`, ...kept].join("\n\n");
}

function sizeOf(texts: readonly string[]): number {
  return texts.reduce((sum, text) => sum + estimateTokens(text), 0);
}

function renderMessage({ role, content }: Message): string {
  const who = role === "user" ? "User" : "Agent";
  return content.flatMap((block) => renderBlock(who, block)).join("\n");
}

function renderBlock(who: string, block: MessageBlock): string[] {
  switch (block.type) {
    case "text":
      return [`${who}: ${block.text}`];
    case "tool_use":
      return [`${who} called ${block.name}: ${shortenText(JSON.stringify(block.input), MAX_BLOCK_CHARS)}`];
    case "tool_result":
      return [`Result${block.is_error ? " (error)" : ""}: ${shortenText(block.content, MAX_BLOCK_CHARS)}`];
    case "thinking":
      return [];
  }
}
