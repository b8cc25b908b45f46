import { createClient, type Transport } from "@connectrpc/connect";
import { type Message, MessageRole, SessionService } from "@trivium/proto/crabcode-sessions";
import type { AfterCheck } from "./vector.ts";

type Check = Extract<AfterCheck, { readonly check_history: unknown }>;

/** The whole transcript of a session. */
export async function readHistory(transport: Transport, sessionId: string): Promise<readonly Message[]> {
  const client = createClient(SessionService, transport);
  const messages: Message[] = [];
  let pageToken = "";
  do {
    const page = await client.listMessages({ sessionId, pageToken });
    messages.push(...page.messages);
    pageToken = page.nextPageToken;
  } while (pageToken !== "");
  return messages;
}

/** What is wrong with a transcript; undefined when the check holds. */
export function historyFault(messages: readonly Message[], check: Check): object | undefined {
  return holds(messages, check) ? undefined : { history: messages.map(outline) };
}

function holds(messages: readonly Message[], { check_history: kind, ids = [], role, value }: Check): boolean {
  switch (kind) {
    case "last_tool_result_message_order": {
      const last = messages.findLast((message) => resultIds(message).length > 0);
      return last !== undefined && String(resultIds(last)) === String(ids);
    }
    case "every_tool_use_has_one_tool_result":
      return (
        resultIds(messages[0]).length === 0 &&
        messages.every((message, index) => String(useIds(message)) === String(resultIds(messages[index + 1])))
      );
    case "last_user_message_contains": {
      const last = messages.findLast((message) => message.role === MessageRole.USER);
      return last !== undefined && textOf(last).includes(String(value));
    }
    case "contains_assistant_text_prefix":
      return messages.some(
        (message) => message.role === MessageRole.ASSISTANT && textOf(message).startsWith(String(value)),
      );
    case "no_message_contains":
      return messages.every((message) => !outline(message).includes(String(value)));
    case "message_count":
      return countOf(messages, role === "assistant" ? MessageRole.ASSISTANT : MessageRole.USER) === value;
  }
}

/** Messages of one side; those that hold nothing but results of tools are not counted. */
function countOf(messages: readonly Message[], role: MessageRole): number {
  return messages.filter(
    (message) =>
      message.role === role &&
      !(message.blocks.length > 0 && resultIds(message).length === message.blocks.length),
  ).length;
}

function textOf({ blocks }: Message): string {
  return blocks.map(({ block }) => (block.case === "text" ? block.value : "")).join("");
}

function useIds({ blocks }: Message): string[] {
  return blocks.flatMap(({ block }) => (block.case === "toolUse" ? [block.value.toolUseId] : []));
}

function resultIds(message: Message | undefined): string[] {
  return (message?.blocks ?? []).flatMap(({ block }) =>
    block.case === "toolResult" ? [block.value.toolUseId] : [],
  );
}

/** A message as text. */
function outline({ role, blocks }: Message): string {
  return `role ${role}: ${blocks.map(({ block }) => JSON.stringify(block)).join(" ")}`;
}
