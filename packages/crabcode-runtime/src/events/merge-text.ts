import { z } from "zod";
import type { PublishedEvent } from "./session-event-bus.ts";

/** UTF-16 units of text in one merged event. */
const MAX_MERGED_CHARS = 64 * 1024;

const textEvent = z.looseObject({
  type: z.enum(["stream_text", "thinking", "agent_output"]),
  text: z.string(),
  seq: z.number(),
  seq_from: z.number().optional(),
  agent_id: z.string().nullish(),
  stream: z.string().optional(),
  operation_id: z.string().optional(),
});

type TextEvent = z.infer<typeof textEvent>;

/** Joins neighbouring pieces of one text, for a reader that has fallen behind. Other events pass as they are. */
export function* mergeText(events: Iterable<PublishedEvent>): Iterable<PublishedEvent> {
  let merged: { event: TextEvent; source: PublishedEvent; isJoined: boolean } | undefined;
  const flush = function* (): Iterable<PublishedEvent> {
    if (merged === undefined) return;
    const { event, source, isJoined } = merged;
    merged = undefined;
    yield isJoined ? { ...source, seq: event.seq, data: JSON.stringify(event) } : source;
  };
  for (const source of events) {
    const event = parseText(source);
    if (event === undefined) {
      yield* flush();
      yield source;
    } else if (merged !== undefined && canJoin(merged.event, event)) {
      const joined = {
        ...event,
        text: merged.event.text + event.text,
        seq_from: merged.event.seq_from ?? merged.event.seq,
      };
      merged = { event: joined, source, isJoined: true };
    } else {
      yield* flush();
      merged = { event, source, isJoined: false };
    }
  }
  yield* flush();
}

function parseText(event: PublishedEvent): TextEvent | undefined {
  if (event.type !== "stream_text" && event.type !== "thinking" && event.type !== "agent_output") {
    return undefined;
  }
  return textEvent.parse(JSON.parse(event.data));
}

function canJoin(first: TextEvent, second: TextEvent): boolean {
  return (
    first.type === second.type &&
    first.agent_id === second.agent_id &&
    first.stream === second.stream &&
    first.stream !== "tool_use" &&
    first.operation_id === second.operation_id &&
    first.seq + 1 === second.seq &&
    first.text.length + second.text.length <= MAX_MERGED_CHARS
  );
}
