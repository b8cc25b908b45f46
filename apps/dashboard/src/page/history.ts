import type { CrabcodeClient } from "@trivium/crabcode-client";
import type { Conversation } from "./conversation.ts";

/** Messages a page begins with; what is older is said in a line. */
const SHOWN_MESSAGES = 200;

/** Puts the newest messages of a session on the page. */
export async function showHistory(
  client: CrabcodeClient,
  { sessionId, conversation }: { readonly sessionId: string; readonly conversation: Conversation },
): Promise<void> {
  const request = { sessionId, newestFirst: true, pageSize: SHOWN_MESSAGES };
  const { messages, totalSize } = await client.sessions.listMessages(request);
  const older = totalSize - messages.length;
  if (older > 0) conversation.note(`${older} older messages are not shown`);
  for (const message of messages.toReversed()) conversation.recall(message);
}
