import { CrabcodeError } from "../crabcode-error.ts";

/** A place in the events of one session. */
export interface Cursor {
  /** Absent: the session of the request. */
  readonly sessionId: string | undefined;
  /** Absent: the current epoch. */
  readonly epoch: string | undefined;
  /** The last event that was seen; 0 to 2^53 - 1. */
  readonly seq: number;
}

const CURSOR = /^(?:([A-Za-z0-9][A-Za-z0-9._-]{0,127})=)?(?:([A-Za-z0-9_-]{1,64}):)?(\d{1,16})$/;

/**
 * Reads `[<session>=][<epoch>:]<seq>`, several of them separated by commas.
 *
 * @param sessionId session of the request; "" for all sessions, where every cursor must name its own
 * @throws CrabcodeError CURSOR_INVALID
 */
export function parseCursors(text: string, sessionId: string): Cursor[] {
  const cursors = text.split(",").map((part) => parseCursor(part.trim()));
  if (sessionId === "") {
    const names = new Set(cursors.map((cursor) => cursor.sessionId));
    if (names.has(undefined)) throw invalid("a cursor for all sessions names its session: <session>=<seq>");
    if (names.size < cursors.length) throw invalid("two cursors name the same session");
    return cursors;
  }
  const [cursor, second] = cursors;
  if (cursor === undefined || second !== undefined) throw invalid("one session takes exactly one cursor");
  if (cursor.sessionId !== undefined && cursor.sessionId !== sessionId) {
    throw invalid("the cursor names another session than the request");
  }
  return cursors;
}

function parseCursor(text: string): Cursor {
  const match = CURSOR.exec(text);
  const seq = Number(match?.[3]);
  if (match === null || !Number.isSafeInteger(seq)) {
    throw invalid("a cursor looks like 17, <epoch>:17 or <session>=<epoch>:17");
  }
  return { sessionId: match[1], epoch: match[2], seq };
}

function invalid(message: string): CrabcodeError {
  return new CrabcodeError("CURSOR_INVALID", message);
}
