import { setImmediate } from "node:timers/promises";
import { z } from "zod";
import { CrabcodeError } from "../crabcode-error.ts";
import { decodePageToken, type ListIdentity, pageSizeOf } from "../paging/page-token.ts";
import { takePage } from "../paging/take-page.ts";
import { shuttingDown } from "../sessions/subscriptions.ts";
import type { SessionFilter, SessionPosition, SessionRow } from "../store/session-index.ts";
import { characterCount } from "../text/first-characters.ts";
import { describeSession, liveState } from "./describe-session.ts";
import type { SessionCallDeps } from "./session-call-deps.ts";
import type { ListSessionsInput, SessionPage, SessionState } from "./session-types.ts";

/** Each word is a condition of one statement, which takes so many. */
const MAX_QUERY_CHARS = 1000;
/** A look at every text ends after this; what it has found is then the answer. */
const SCAN_LIMIT_MS = 2000;
/** Other calls get their turn after so many sessions. */
const SCAN_STEP = 20;

const ORDINARY: readonly SessionState[] = ["idle", "busy", "closing", "stored"];
const position = z.tuple([z.number(), z.string()]);

/** Sessions of one page, from the index alone. */
export async function listSessions(deps: SessionCallDeps, input: ListSessionsInput): Promise<SessionPage> {
  const { registry, index } = deps;
  const { states = [], cwd = "", query = "" } = input;
  if (characterCount(query) > MAX_QUERY_CHARS) {
    const message = `query has more than ${MAX_QUERY_CHARS} characters`;
    throw new CrabcodeError("FIELD_INVALID", message, { field: "query" });
  }
  const size = pageSizeOf(input);
  const wanted = new Set(states.length === 0 ? ORDINARY : states);
  const identity = { list: "ListSessions", filter: [[...wanted].sort(), cwd, query] };
  const after = decodePageToken(input, identity, position);
  const words = index.split(query);
  const { loaded } = registry;
  const filter = {
    wantedLoaded: loaded
      .filter((session) => wanted.has(liveState(session)))
      .map(({ sessionId }) => sessionId),
    loaded: loaded.map(({ sessionId }) => sessionId),
    wantsArchived: wanted.has("archived"),
    wantsStored: wanted.has("stored"),
    cwd: cwd === "" ? undefined : cwd,
    words: words.indexed,
  };
  const { rows, nextPageToken, totalSize } =
    words.scanned.length === 0
      ? fromIndex(deps, filter, { size, identity, after })
      : await fromTexts(deps, filter, { size, identity, after, words: words.scanned });
  const sessions = await Promise.all(rows.map((row) => describeSession(deps, row)));
  return { sessions, nextPageToken, totalSize };
}

interface Page {
  readonly size: number;
  readonly identity: ListIdentity;
  readonly after: SessionPosition | undefined;
}

interface FoundRows {
  readonly rows: readonly SessionRow[];
  readonly nextPageToken: string;
  readonly totalSize: number;
}

const positionOf = ({ updatedAtMs, sessionId }: SessionRow): SessionPosition => [updatedAtMs, sessionId];

function fromIndex(
  { index }: SessionCallDeps,
  filter: SessionFilter,
  { size, identity, after }: Page,
): FoundRows {
  // One more tells whether there is a next page.
  const rows = index.list(filter, { limit: size + 1, ...(after !== undefined && { after }) });
  return { ...takePage(rows, { size, identity, keyOf: positionOf }), totalSize: index.count(filter) };
}

/** For words that no index finds: looks at every session that fits otherwise, for a while. */
async function fromTexts(
  { index, environment, database }: SessionCallDeps,
  filter: SessionFilter,
  { size, identity, after, words }: Page & { words: readonly string[] },
): Promise<FoundRows> {
  const { clock } = environment;
  const endMs = clock.monotonic() + SCAN_LIMIT_MS;
  const found: SessionRow[] = [];
  let isComplete = true;
  for (const [count, row] of index.list(filter, { limit: -1 }).entries()) {
    if (count % SCAN_STEP === SCAN_STEP - 1) await setImmediate();
    if (!database.isOpen) throw shuttingDown();
    isComplete = clock.monotonic() < endMs;
    if (!isComplete) break;
    if (index.hasAll(row, words)) found.push(row);
  }
  const rows = found.filter((row) => after === undefined || isBehind(positionOf(row), after));
  const page = takePage(rows, { size, identity, keyOf: positionOf });
  return { ...page, ...(!isComplete && { nextPageToken: "" }), totalSize: found.length };
}

function isBehind([atMs, id]: SessionPosition, [afterMs, afterId]: SessionPosition): boolean {
  return atMs < afterMs || (atMs === afterMs && id > afterId);
}
