import { type CrabcodeClientEvent, isNumbered } from "./client-event.ts";

interface Cursor {
  readonly epoch: string | undefined;
  readonly seq: number;
}

/** The last delivered event of each session: what to ask for after a reconnect, and what to drop. */
export class CursorBook {
  readonly #cursors = new Map<string, Cursor>();
  readonly #sessionId: string;

  /**
   * @param sessionId "" for all sessions
   * @param after `trivium-after-seq` to start with
   */
  constructor(sessionId: string, after?: string) {
    this.#sessionId = sessionId;
    for (const part of after?.split(",") ?? []) {
      const [, session = sessionId, epoch, seq] = /^\s*(?:([^=]+)=)?(?:([^:]+):)?(\d+)\s*$/.exec(part) ?? [];
      if (seq !== undefined) this.#cursors.set(session, { epoch, seq: Number(seq) });
    }
  }

  /** Value of `trivium-after-seq` for the next call; undefined to start at "now". */
  get header(): string | undefined {
    if (this.#cursors.size === 0) return undefined;
    const isAll = this.#sessionId === "";
    return Array.from(this.#cursors, ([sessionId, { epoch, seq }]) => {
      const position = epoch === undefined ? String(seq) : `${epoch}:${seq}`;
      return isAll ? `${sessionId}=${position}` : position;
    }).join(",");
  }

  /** Notes an event. False: it was delivered before and is to be dropped. */
  accept(event: CrabcodeClientEvent): boolean {
    if (event.type === "server.gap") {
      const { session_id: sessionId, epoch, to_seq: seq, reason } = event.properties;
      const last = this.#cursors.get(sessionId);
      // A hole before what was delivered is none, unless the numbering begins again or ends.
      const isHole = reason === "retention" || reason === "corruption";
      if (isHole && isBehind(last, { epoch, seq })) return false;
      if (reason === "session_gone") this.#cursors.delete(sessionId);
      else this.#cursors.set(sessionId, { epoch, seq });
      return true;
    }
    if (event.type === "server.connected") {
      const { session_id: sessionId, epoch, seq, sessions = {} } = event.properties;
      if (sessionId !== null && epoch !== null && seq !== null) this.#begin(sessionId, { epoch, seq });
      for (const [id, position] of Object.entries(sessions)) this.#begin(id, position);
      return true;
    }
    if (!isNumbered(event)) return true;
    // A question that is sent again has the number it had; whether it is new is for whoever shows it.
    if (event.replayed === true) return true;
    if (isBehind(this.#cursors.get(event.session_id), event)) return false;
    this.#cursors.set(event.session_id, { epoch: event.epoch, seq: event.seq });
    return true;
  }

  /** Where a session stood when it was first seen: later events count from there. */
  #begin(sessionId: string, { epoch, seq }: Cursor): void {
    if (!this.#cursors.has(sessionId)) this.#cursors.set(sessionId, { epoch, seq });
  }
}

/** True when a place was reached before, in the same numbering. */
function isBehind(last: Cursor | undefined, { epoch, seq }: Cursor): boolean {
  return last !== undefined && (last.epoch ?? epoch) === epoch && seq <= last.seq;
}
