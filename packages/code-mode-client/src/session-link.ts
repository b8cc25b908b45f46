import type { CallOptions, Client } from "@connectrpc/connect";
import { abortReason, type Clock, linkSignals, TriviumError } from "@trivium/core";
import type { CodeModeHost } from "@trivium/proto/code-mode";
import { fromConnectError } from "@trivium/rpc";
import { SessionClosedError } from "./session-closed-error.ts";
import { utf8Bytes, utf8Prefix } from "./utf8-text.ts";

/** Longest text of a host's error that is passed on. */
const MAX_ERROR_BYTES = 512;

/** Bounds of one call. */
export interface CallBounds {
  readonly signal?: AbortSignal | undefined;
  /** Time for the answer. Default: that of the session. */
  readonly timeoutMs?: number | undefined;
}

/** The life of a session, shared by everything that makes calls for it. */
export class SessionLink {
  readonly client: Client<typeof CodeModeHost>;
  readonly sessionId: string;
  readonly clock: Clock;
  readonly requestTimeoutMs: number;
  readonly #lifetime: AbortController;
  readonly #ended = Promise.withResolvers<SessionClosedError>();
  #end: SessionClosedError | undefined;

  constructor(options: {
    readonly client: Client<typeof CodeModeHost>;
    readonly sessionId: string;
    readonly clock: Clock;
    readonly requestTimeoutMs: number;
    /** Aborted when the session ends; its lease runs under it. */
    readonly lifetime: AbortController;
  }) {
    this.client = options.client;
    this.sessionId = options.sessionId;
    this.clock = options.clock;
    this.requestTimeoutMs = options.requestTimeoutMs;
    this.#lifetime = options.lifetime;
  }

  /** Aborts when the session ends. */
  get signal(): AbortSignal {
    return this.#lifetime.signal;
  }

  get hasEnded(): boolean {
    return this.#end !== undefined;
  }

  /** Resolves with why the session ended. */
  get ended(): Promise<SessionClosedError> {
    return this.#ended.promise;
  }

  /** Ends the session for everybody, once. Without a cause it was closed in order. */
  end(message: string, cause?: Error): SessionClosedError {
    if (this.#end === undefined) {
      this.#end = new SessionClosedError(message, cause === undefined ? undefined : { cause });
      this.#lifetime.abort(this.#end);
      this.#ended.resolve(this.#end);
    }
    return this.#end;
  }

  /**
   * Makes a call under the session's life, the caller's signal and a time limit. Running out of time ends the
   * session: a host that does not answer cannot be relied on.
   *
   * @throws {@link SessionClosedError}, the reason of the caller's signal, or a {@link TriviumError} of the host.
   */
  async call<Result>(
    run: (options: CallOptions & { signal: AbortSignal }) => Promise<Result>,
    bounds: CallBounds = {},
  ): Promise<Result> {
    if (this.#end !== undefined) throw this.#end;
    const { signal, timeoutMs = this.requestTimeoutMs } = bounds;
    using linked = linkSignals([this.#lifetime.signal, signal], { timeoutMs, clock: this.clock });
    try {
      return await run({ signal: linked.signal });
    } catch (thrown) {
      if (this.#end !== undefined) throw this.#end;
      if (signal?.aborted === true) throw abortReason(signal);
      if (linked.signal.aborted) throw this.#timeOut(timeoutMs);
      throw this.#fromHost(thrown);
    }
  }

  #fromHost(thrown: unknown): TriviumError {
    const error = shortened(fromConnectError(thrown));
    // The original host answers a deadline of its client's with CANCELLED.
    const isTimeout = error.kind === "cancelled" && /timeout/i.test(error.message);
    if (!isTimeout && error.kind !== "deadlineExceeded") return error;
    const timedOut = new TriviumError("deadlineExceeded", error.message, { cause: error });
    this.end("a call ran out of time", timedOut);
    return timedOut;
  }

  #timeOut(timeoutMs: number): TriviumError {
    const error = new TriviumError("deadlineExceeded", `the host gave no answer within ${timeoutMs} ms`);
    this.end(error.message, error);
    return error;
  }
}

function shortened(error: TriviumError): TriviumError {
  if (utf8Bytes(error.message) <= MAX_ERROR_BYTES) return error;
  const message = `${utf8Prefix(error.message, MAX_ERROR_BYTES - 3)}...`;
  return new TriviumError(error.kind, message, { cause: error });
}
