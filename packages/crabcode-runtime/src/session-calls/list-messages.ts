import { createHash } from "node:crypto";
import { join } from "node:path";
import { z } from "zod";
import { agentTranscriptPath } from "../agents/agent-run.ts";
import { Conversation } from "../conversation/conversation.ts";
import type { Message, MessageBlock } from "../conversation/message.ts";
import { CrabcodeError } from "../crabcode-error.ts";
import { decodePageToken, pageSizeOf } from "../paging/page-token.ts";
import { takePage } from "../paging/take-page.ts";
import { noTranscript, TranscriptFile } from "../store/transcript.ts";
import { cutMiddle } from "../text/cut-middle.ts";
import type { SessionCallDeps } from "./session-call-deps.ts";
import type { HistoryMessage, ListMessagesInput, MessagePage } from "./session-types.ts";

const MAX_PAGE_BYTES = 4 * 1024 * 1024;
const MAX_RESULT_BYTES = 1024 * 1024;
/** What fits in a token as it is. */
const PLAIN_ID = /^[\x20-\x7e]{1,64}$/;

const messageKey = z.tuple([z.number(), z.string()]);

/** One page of a history, read without loading the session. */
export async function listMessages(
  deps: SessionCallDeps,
  sessionId: string,
  input: ListMessagesInput,
): Promise<MessagePage> {
  const { agentId = "", isNewestFirst = false, isProjected = false } = input;
  const size = pageSizeOf(input);
  const filter = [sessionId, agentId, isNewestFirst, isProjected];
  const identity = { list: "ListMessages", filter };
  const after = decodePageToken(input, identity, messageKey);
  const conversation = await conversationOf(deps, sessionId, agentId);
  const all = isProjected ? projected(conversation) : everything(conversation);
  const places = placesOf(all);
  if (isNewestFirst) all.reverse();
  const placeOf = (row: HistoryMessage): number => places.get(row) ?? row.index;
  const page = takePage(after === undefined ? all : behind(all, after, { isNewestFirst, placeOf }), {
    size,
    identity,
    keyOf: (row) => [placeOf(row), shortId(row)],
    maxBytes: MAX_PAGE_BYTES,
    bytesOf: ({ message }) => sizeOf(message),
  });
  return {
    sessionId,
    messages: page.rows.map((row) => ({ ...row, message: shortened(row.message) })),
    nextPageToken: page.nextPageToken,
    totalSize: all.length,
  };
}

async function conversationOf(
  { registry, environment, transcripts, ownerOf }: SessionCallDeps,
  sessionId: string,
  agentId: string,
): Promise<Conversation> {
  const session = registry.peek(sessionId);
  if (agentId !== "" && ownerOf(agentId) !== sessionId) {
    throw new CrabcodeError("AGENT_NOT_FOUND", "the session has no agent with that id", { sessionId });
  }
  const live = agentId === "" ? session?.parts.conversation : session?.agents.find(agentId)?.conversation;
  if (live !== undefined) return live;
  const { logger, clock, ids } = environment;
  const agentPath = agentTranscriptPath(transcripts, { sessionId, agentId });
  const mainPath = transcripts === undefined ? undefined : join(transcripts, `${sessionId}.jsonl`);
  const path = agentId === "" ? mainPath : agentPath;
  const records = path === undefined ? [] : await new TranscriptFile(path).read(logger);
  return new Conversation({ records, transcript: noTranscript, clock, ids });
}

function everything({ entries }: Conversation): HistoryMessage[] {
  return entries.map(({ uuid, message, timestamp, replyTo, operationId }, index) => ({
    messageId: uuid,
    message,
    timestamp,
    replyTo,
    operationId,
    index,
  }));
}

function projected({ projection, entries }: Conversation): HistoryMessage[] {
  return projection.items.map(({ uuid, index, message, timestamp }) => {
    const entry = entries[index];
    return {
      messageId: uuid,
      message,
      timestamp: entry?.timestamp ?? timestamp,
      replyTo: entry?.replyTo,
      operationId: entry?.operationId,
      index,
    };
  });
}

/**
 * Where messages stand, oldest first: their position in the transcript. One that a compaction made has none there; it
 * stands between the newest message before it and the next, so that its place outlives the compaction.
 */
function placesOf(oldestFirst: readonly HistoryMessage[]): ReadonlyMap<HistoryMessage, number> {
  const places = new Map<HistoryMessage, number>();
  let newest = -1;
  for (const row of oldestFirst) {
    newest = Math.max(newest, row.index);
    places.set(row, row.index < 0 ? newest + 0.5 : row.index);
  }
  return places;
}

/** Ids of messages from elsewhere may be longer than a token, and differ only behind its end. */
function shortId({ messageId }: HistoryMessage): string {
  return PLAIN_ID.test(messageId) ? messageId : createHash("sha256").update(messageId).digest("base64url");
}

/** The messages behind one; when that is not among them any more, those behind its place. */
function behind(
  all: readonly HistoryMessage[],
  [place, id]: readonly [number, string],
  { isNewestFirst, placeOf }: { isNewestFirst: boolean; placeOf: (row: HistoryMessage) => number },
): HistoryMessage[] {
  const at = all.findIndex((row) => shortId(row) === id);
  if (at >= 0) return all.slice(at + 1);
  return all.filter((row) => (isNewestFirst ? placeOf(row) < place : placeOf(row) > place));
}

/** What a model saw of a result may be larger than a page. */
function shortened(message: Message): Message {
  const content = message.content.map(
    (block): MessageBlock =>
      block.type === "tool_result"
        ? { ...block, content: cutMiddle(block.content, MAX_RESULT_BYTES) }
        : block,
  );
  return { ...message, content };
}

function sizeOf({ content }: Message): number {
  let bytes = 0;
  for (const block of content) bytes += blockSize(block);
  return bytes;
}

function blockSize(block: MessageBlock): number {
  switch (block.type) {
    case "text":
      return Buffer.byteLength(block.text);
    case "thinking":
      return Buffer.byteLength(block.thinking);
    case "tool_use":
      return Buffer.byteLength(JSON.stringify(block.input));
    case "tool_result":
      return Math.min(Buffer.byteLength(block.content), MAX_RESULT_BYTES);
  }
}
