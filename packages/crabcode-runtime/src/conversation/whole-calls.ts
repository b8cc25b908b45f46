import type { Message, MessageBlock } from "./message.ts";

const LOST_RESULT = "The result of this call is not in the history any more.";

/**
 * The history with exactly one result for each call, in the message behind it, and no result without its call: no
 * provider takes anything else. A history lacks one of the two when a line of its transcript could not be read.
 *
 * @returns the same array when nothing is missing
 */
export function withWholeCalls(messages: readonly Message[]): readonly Message[] {
  const whole: Message[] = [];
  let open: readonly string[] = [];
  for (const message of messages) {
    const { role } = message;
    if (role === "assistant" && open.length > 0) whole.push({ role: "user", content: open.map(lostResult) });
    const completed = answering(message, role === "user" ? open : []);
    open = callIds(message).calls;
    // Nothing but results of calls that are gone.
    if (completed.content.length > 0 || message.content.length === 0) whole.push(completed);
  }
  if (open.length > 0) whole.push({ role: "user", content: open.map(lostResult) });
  const isChanged = whole.length !== messages.length || whole.some((one, index) => one !== messages[index]);
  return isChanged ? whole : messages;
}

interface CallIds {
  readonly calls: readonly string[];
  readonly results: readonly string[];
}

// Messages do not change once made, and each is looked at again for every request.
const idsOf = new WeakMap<Message, CallIds>();

function callIds(message: Message): CallIds {
  const known = idsOf.get(message);
  if (known !== undefined) return known;
  const ids = { calls: callsOf(message), results: resultsOf(message) };
  idsOf.set(message, ids);
  return ids;
}

/** The message with results for these calls and no others. */
function answering(message: Message, calls: readonly string[]): Message {
  const known = callIds(message).results;
  const isWhole = known.length === calls.length && calls.every((id) => known.includes(id));
  if (isWhole) return message;
  const missing = new Set(calls);
  const content = message.content.filter(
    (block) => block.type !== "tool_result" || missing.delete(block.tool_use_id),
  );
  return { ...message, content: [...[...missing].map(lostResult), ...content] };
}

function callsOf({ role, content }: Message): string[] {
  return role === "user" ? [] : content.flatMap((block) => (block.type === "tool_use" ? [block.id] : []));
}

function resultsOf({ content }: Message): string[] {
  return content.flatMap((block) => (block.type === "tool_result" ? [block.tool_use_id] : []));
}

function lostResult(toolUseId: string): MessageBlock {
  return { type: "tool_result", tool_use_id: toolUseId, content: LOST_RESULT, is_error: true };
}
