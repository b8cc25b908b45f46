import type { Message } from "../conversation/message.ts";
import { sessionHooks } from "../hooks/session-hooks.ts";
import { submitPrompt } from "../hooks/submit-prompt.ts";
import type { LoopEvents } from "../turn/loop-events.ts";
import { nextMessage } from "../turn/next-message.ts";
import type { Operation } from "./operation.ts";
import { STOP_GRACE_MS } from "./stop-grace.ts";
import type { TurnHost } from "./turn-runner.ts";

/** The text of the message a callback begins with; undefined when there is nothing to hand over (any more). */
export function beginCallback(
  { parts, environment, callbacks }: TurnHost,
  operation: Operation,
): string | undefined {
  if (operation.resumed !== undefined) {
    operation.notificationId = operation.text;
    return "";
  }
  const notification = callbacks.takeForMain();
  if (notification === undefined) return undefined;
  const { messageId, text } = notification;
  operation.notificationId = messageId;
  parts.operations.admit(
    { ...operation.admission, text: messageId, requestHash: undefined },
    environment.clock.now(),
  );
  return text;
}

/** Puts the message into the history, unless a hook forbids it: then the reason with which the turn ends. */
export async function beginTurn(
  host: TurnHost,
  operation: Operation,
  { events, beginning }: { events: LoopEvents; beginning: string },
): Promise<"hook_blocked" | "interrupted" | undefined> {
  if (operation.kind === "callback") return appendMessage(host, operation, { text: beginning });
  const prompt = await submitPrompt(sessionHooks(host, STOP_GRACE_MS), beginning, operation.signal);
  switch (prompt.kind) {
    case "accepted":
      await appendMessage(host, operation, { text: beginning, feedback: prompt.feedback });
      return appendSkills(host, operation, beginning);
    case "blocked":
      events.error({ message: prompt.message, recoverable: true, error_type: "hook" });
      return "hook_blocked";
    case "interrupted":
      return "interrupted";
  }
}

async function appendMessage(
  { parts, environment }: TurnHost,
  { operationId, notificationId }: Operation,
  { text, feedback }: { text: string; feedback?: string | undefined },
): Promise<undefined> {
  const { conversation, sessionId, bus } = parts;
  // A turn that could not be completed may have left calls without results.
  const { content, role } = nextMessage(conversation.openCalls, text);
  const said = feedback === undefined ? [] : [{ type: "text" as const, text: feedback }];
  const message: Message = { role, content: [...content, ...said] };
  const position = { operationId, eventSeq: bus.seq };
  if (notificationId === undefined) {
    environment.store.setFirstMessage(sessionId, text);
    await conversation.append(message, position);
  } else if (conversation.notification(notificationId) === undefined) {
    await conversation.append(
      { ...message, origin: "task-notification" },
      { ...position, uuid: notificationId },
    );
  }
}

/** What skills have to say about the message follows it. */
async function appendSkills(
  { parts: { conversation, bus }, skills }: TurnHost,
  { operationId, signal }: Operation,
  message: string,
): Promise<undefined> {
  const text = await skills?.reminderFor(message, signal);
  if (text === undefined) return;
  const content = [{ type: "text" as const, text: text.toWellFormed() }];
  await conversation.append({ role: "user", content, origin: "skill" }, { operationId, eventSeq: bus.seq });
}
