import type { ClientHttp2Stream, OutgoingHttpHeaders } from "node:http2";

/** Never sent: it carries a call's tag from the interceptor to the session manager. */
const TAG_HEADER = "trivium-local-call-tag";

/** One call, while it runs. */
export interface TrackedCall {
  /** Whether the connection died under it. */
  isLost: boolean;
  /** The HTTP/2 code its stream was closed with; undefined while it is open. */
  rstCode: number | undefined;
}

/**
 * Tells for each running call what became of its stream and whether its connection died under it.
 *
 * The Node client gives both that and a reset by the server the code CANCEL; they differ for callers.
 */
export class CallTracker {
  #lastTag = 0;
  /** Tagged and not yet sent. */
  readonly #pending = new Map<string, TrackedCall>();

  /** Runs `send`, which must send a request with this header. */
  async send<Result>(header: Headers, send: (call: TrackedCall) => Promise<Result>): Promise<Result> {
    const tag = String(++this.#lastTag);
    const call: TrackedCall = { isLost: false, rstCode: undefined };
    this.#pending.set(tag, call);
    header.set(TAG_HEADER, tag);
    try {
      return await send(call);
    } finally {
      this.#pending.delete(tag);
      header.delete(TAG_HEADER);
    }
  }

  /** Takes the tag out of the headers before they are sent. */
  untag(headers: OutgoingHttpHeaders): { call: TrackedCall | undefined; headers: OutgoingHttpHeaders } {
    const { [TAG_HEADER]: tag, ...rest } = headers;
    return { call: typeof tag === "string" ? this.#pending.get(tag) : undefined, headers: rest };
  }

  /** Follows the stream of a call. Must come before anyone else listens for the stream's close. */
  follow(call: TrackedCall, stream: ClientHttp2Stream): void {
    // A closed stream no longer knows its session.
    const { session } = stream;
    stream.once("close", () => {
      call.isLost = session?.destroyed === true;
      call.rstCode = stream.rstCode;
    });
  }
}
