import { z } from "zod";
import { decodePageToken, pageSizeOf } from "../paging/page-token.ts";
import { takePage } from "../paging/take-page.ts";
import type { Session } from "../sessions/session.ts";
import type { SessionRegistry } from "../sessions/session-registry.ts";
import type {
  ListQuestionsInput,
  PendingQuestion,
  PendingQuestionEvent,
  QuestionPage,
} from "./session-types.ts";

const MAX_PAGE_BYTES = 4 * 1024 * 1024;

type Key = [atMs: number, sessionId: string, seq: number];
const questionKey = z.tuple([z.number(), z.string(), z.number()]);

/**
 * The questions that wait, of one session or of all: those that a subscription is sent again.
 *
 * @param sessionId undefined: all sessions
 */
export function listQuestions(
  registry: SessionRegistry,
  sessionId: string | undefined,
  input: ListQuestionsInput,
): QuestionPage {
  const size = pageSizeOf(input);
  const identity = { list: "ListQuestions", filter: [sessionId ?? null, input.kind ?? null] };
  const after = decodePageToken(input, identity, questionKey);
  const session = sessionId === undefined ? undefined : registry.peek(sessionId);
  const asking = sessionId === undefined ? registry.loaded : session === undefined ? [] : [session];
  const rows = asking
    .flatMap(pendingOf)
    .filter(({ event }) => input.kind === undefined || event.type === `${input.kind}_request`)
    .sort((a, b) => compare(keyOf(a), keyOf(b)))
    .filter((row) => after === undefined || compare(keyOf(row), after) > 0);
  const page = takePage(rows, {
    size,
    identity,
    keyOf,
    maxBytes: MAX_PAGE_BYTES,
    bytesOf: ({ event }) => JSON.stringify(event).length,
  });
  return { sessionId, questions: page.rows, nextPageToken: page.nextPageToken };
}

function pendingOf(session: Session): PendingQuestion[] {
  return session.questions.published.map(({ data }) => {
    // What this package wrote itself, and it knows as what.
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion
    const event = JSON.parse(data) as PendingQuestionEvent;
    return { sessionId: session.sessionId, event, agentPath: agentPath(session, event.agent_id) };
  });
}

function agentPath({ agents }: Session, agentId: string | null): string[] {
  const path: string[] = [];
  for (let at = agentId ?? undefined; at !== undefined; at = agents.find(at)?.record.parentId)
    path.unshift(at);
  return path;
}

function keyOf({ event }: PendingQuestion): Key {
  return [Date.parse(event.ts), event.session_id, event.seq];
}

function compare(a: Key, b: Key): number {
  if (a[0] !== b[0]) return a[0] - b[0];
  if (a[1] !== b[1]) return a[1] < b[1] ? -1 : 1;
  return a[2] - b[2];
}
