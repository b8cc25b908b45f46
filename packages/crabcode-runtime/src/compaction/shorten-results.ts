import type { Message, MessageBlock } from "../conversation/message.ts";
import { turnStart } from "./boundaries.ts";

const OLD_RESULT_CHARS = 2_000;
const CURRENT_TURN_RESULT_CHARS = 8_000;

/** Something that stands for a message of a view. */
export interface ViewItem {
  readonly uuid: string;
  readonly message: Message;
}

/**
 * The view with its long tool results cut in the middle, those of the last turn less. An item that nothing is cut of
 * stays the same object; the whole list does when nothing is cut at all.
 */
export function shortenResults(items: readonly ViewItem[]): readonly ViewItem[] {
  const current = turnStart(items);
  let isChanged = false;
  const shortened = items.map((item, index) => {
    const message = shortenMessage(
      item.message,
      index < current ? OLD_RESULT_CHARS : CURRENT_TURN_RESULT_CHARS,
    );
    if (message === item.message) return item;
    isChanged = true;
    return { uuid: item.uuid, message };
  });
  return isChanged ? shortened : items;
}

/** Head and tail of a text of more than `maxChars` characters, with a note between them; at most `maxChars` long. */
export function shortenText(text: string, maxChars: number): string {
  if (text.length <= maxChars) return text;
  // Room for the note.
  const kept = maxChars - 64;
  const head = text.slice(0, Math.ceil(kept / 2)).toWellFormed();
  const tail = text.slice(text.length - Math.floor(kept / 2)).toWellFormed();
  return `${head}\n... [${text.length - kept} characters cut] ...\n${tail}`;
}

function shortenMessage(message: Message, maxChars: number): Message {
  let isChanged = false;
  const content = message.content.map((block): MessageBlock => {
    if (block.type !== "tool_result" || block.content.length <= maxChars) return block;
    isChanged = true;
    return { ...block, content: shortenText(block.content, maxChars) };
  });
  return isChanged ? { ...message, content } : message;
}
