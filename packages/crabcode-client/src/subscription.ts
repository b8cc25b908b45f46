import type { Client } from "@connectrpc/connect";
import { abortReason, type Clock, linkSignals } from "@trivium/core";
import type { CrabCodeService } from "@trivium/proto/crabcode";
import { fromConnectError } from "@trivium/rpc";
import { BackOff } from "./back-off.ts";
import { type CrabcodeClientEvent, isNumbered, parseEvent } from "./client-event.ts";
import { isConnectionLoss } from "./connection-loss.ts";
import { CursorBook } from "./cursor-book.ts";
import { crabcodeErrorReason } from "./error-reason.ts";
import { type AnswerSender, type QuestionHandlers, QuestionResponder } from "./question-responder.ts";

/** One subscription, over as many calls as it takes. */
export interface SubscriptionCall {
  /** "" for all sessions. */
  readonly sessionId: string;
  readonly after: string | undefined;
  readonly headers: Headers;
  readonly signal: AbortSignal | undefined;
  readonly handlers: QuestionHandlers;
}

/** What subscriptions take from outside. */
export interface SubscriptionDeps {
  readonly client: Client<typeof CrabCodeService>;
  readonly sender: AnswerSender;
  readonly clock: Clock;
  /** 0 to 1; spreads reconnects of many clients. */
  readonly random: () => number;
}

/** The server says something every 10 s; three missed times mean that the connection is dead. */
const SILENCE_LIMIT_MS = 35_000;
/** A connection that lived so long was a good one, also when nothing happened on it. */
const GOOD_CONNECTION_MS = 5_000;

/**
 * Events of one session, or of all. A lost connection is made again, from the last event on, until the signal
 * aborts; each event comes once. Ends without an error when the session closes or the signal aborts.
 */
export async function* subscription(
  deps: SubscriptionDeps,
  call: SubscriptionCall,
): AsyncGenerator<CrabcodeClientEvent, void, undefined> {
  const failed = new AbortController();
  using stop = linkSignals([call.signal, failed.signal]);
  using responder = new QuestionResponder(call.handlers, {
    ...deps,
    onFailure: (error) => failed.abort(error),
  });
  const book = new CursorBook(call.sessionId, call.after);
  const backOff = new BackOff(deps);
  let wasConnected = false;
  while (!stop.signal.aborted) {
    const startMs = deps.clock.monotonic();
    try {
      for await (const event of connection(deps, { call, cursor: book.header, signal: stop.signal })) {
        wasConnected = true;
        if (event.type === "server.heartbeat" || !book.accept(event)) continue;
        if (isNumbered(event) && event.replayed !== true) backOff.succeeded();
        responder.observe(event);
        yield event;
      }
      return;
    } catch (error) {
      if (stop.signal.aborted) break;
      if (deps.clock.monotonic() - startMs >= GOOD_CONNECTION_MS) backOff.succeeded();
      // The first connection may be to a wrong address: that is for the caller to know.
      if (!wasConnected || !isPassing(error) || !backOff.isWorthRetrying(error))
        throw fromConnectError(error);
    }
    await backOff.pause(stop.signal);
  }
  if (failed.signal.aborted) throw abortReason(failed.signal);
}

async function* connection(
  { client, clock }: SubscriptionDeps,
  {
    call,
    cursor,
    signal,
  }: { readonly call: SubscriptionCall; readonly cursor: string | undefined; readonly signal: AbortSignal },
): AsyncGenerator<CrabcodeClientEvent, void, undefined> {
  const headers = new Headers(call.headers);
  if (cursor !== undefined) headers.set("trivium-after-seq", cursor);
  const silence = new AbortController();
  using own = linkSignals([signal, silence.signal]);
  const listen = (): Disposable => clock.setTimer(SILENCE_LIMIT_MS, () => silence.abort());
  let timer = listen();
  try {
    const stream = client.subscribeEvents({ sessionId: call.sessionId }, { headers, signal: own.signal });
    for await (const message of stream) {
      timer[Symbol.dispose]();
      yield parseEvent(message);
      // Time in which the caller does not read is not the server's silence.
      timer = listen();
    }
  } catch (error) {
    throw silence.signal.aborted ? new SilentConnection() : error;
  } finally {
    timer[Symbol.dispose]();
    // Ends the call when the caller leaves early; afterwards nobody looks at the signal.
    silence.abort();
  }
}

/** Stays inside this file: the subscription reconnects. */
class SilentConnection extends Error {}

function isPassing(error: unknown): boolean {
  return (
    error instanceof SilentConnection ||
    isConnectionLoss(error) ||
    crabcodeErrorReason(error) === "SHUTTING_DOWN"
  );
}
