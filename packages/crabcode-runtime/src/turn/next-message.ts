import type { Conversation } from "../conversation/conversation.ts";
import type { Message, MessageBlock, ToolUseBlock } from "../conversation/message.ts";
import { interrupted } from "./tool-call.ts";

/** A message of the user; calls that a run could not complete get their results with it. */
export function nextMessage(openCalls: readonly ToolUseBlock[], text: string): Message {
  const cut = openCalls.map(
    ({ id }): MessageBlock => ({
      type: "tool_result",
      tool_use_id: id,
      content: interrupted.result,
      is_error: true,
    }),
  );
  return { role: "user", content: [...cut, { type: "text", text }] };
}

/** A notification that is not the newest message (any more), so that the model would not notice it. */
export function buriedNotification(conversation: Conversation, uuid: string): Message | undefined {
  const notification = conversation.notification(uuid);
  if (notification === undefined || conversation.messages.at(-1) === notification) return undefined;
  return { ...notification, content: notification.content.filter(({ type }) => type === "text") };
}
