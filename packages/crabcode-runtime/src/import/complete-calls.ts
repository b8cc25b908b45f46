import type { Message, MessageBlock } from "../conversation/message.ts";
import type { TranscriptRecord } from "../store/transcript.ts";

type Entry = Extract<TranscriptRecord, { kind: "message" }>["entry"];

/**
 * Gives every call its one result, in the message behind it, and takes results away that have no call: no provider
 * takes a history that is otherwise. Calls of the newest message stay open; the next message completes them.
 */
export function completeCalls(
  records: readonly TranscriptRecord[],
  newUuid: () => string,
): TranscriptRecord[] {
  const complete: TranscriptRecord[] = [];
  let open: Entry | undefined;
  for (const record of records) {
    if (record.kind === "mark") {
      complete.push(record);
      continue;
    }
    const { entry } = record;
    const calls = callsOf(open?.message);
    if (open !== undefined && calls.length > 0 && entry.message.role !== "user") {
      const message: Message = { role: "user", content: calls.map(interrupted) };
      complete.push({ kind: "message", entry: { ...open, uuid: newUuid(), message, replyTo: undefined } });
    }
    const message = entry.message.role === "user" ? withResults(entry.message, calls) : entry.message;
    open = { ...entry, message };
    complete.push({ kind: "message", entry: open });
  }
  return complete;
}

function callsOf(message: Message | undefined): string[] {
  if (message?.role !== "assistant") return [];
  const ids = message.content.flatMap((block) => (block.type === "tool_use" ? [block.id] : []));
  return [...new Set(ids)];
}

function withResults(message: Message, calls: readonly string[]): Message {
  const answered = new Set<string>();
  const results = message.content.filter((block) => {
    if (block.type !== "tool_result" || !calls.includes(block.tool_use_id)) return false;
    const isFirst = !answered.has(block.tool_use_id);
    answered.add(block.tool_use_id);
    return isFirst;
  });
  const missing = calls.filter((id) => !answered.has(id)).map(interrupted);
  const rest = message.content.filter((block) => block.type !== "tool_result");
  return { ...message, content: [...results, ...missing, ...rest] };
}

function interrupted(id: string): MessageBlock {
  return { type: "tool_result", tool_use_id: id, content: "Interrupted", is_error: true };
}
