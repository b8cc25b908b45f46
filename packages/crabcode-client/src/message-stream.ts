import type { CallOptions, Client } from "@connectrpc/connect";
import { abortReason, TriviumError } from "@trivium/core";
import type { CrabCodeService, SendMessageRequest } from "@trivium/proto/crabcode";
import { fromConnectError } from "@trivium/rpc";
import type { BackOffDeps } from "./back-off.ts";
import { type CrabcodeClientEvent, parseEvent } from "./client-event.ts";
import { isConnectionLoss } from "./connection-loss.ts";
import { CursorBook } from "./cursor-book.ts";
import { type AnswerSender, type QuestionHandlers, QuestionResponder } from "./question-responder.ts";

/** One SendMessage call. */
export interface MessageCall {
  readonly request: Pick<SendMessageRequest, "text" | "maxTurns" | "sessionId">;
  readonly headers: Headers;
  /** The metadata has an `idempotency-key`, which makes a resend safe. */
  readonly isRepeatable: boolean;
  readonly signal: AbortSignal | undefined;
  readonly handlers: QuestionHandlers;
}

/** What message streams take from outside. */
export interface MessageDeps extends BackOffDeps {
  readonly client: Client<typeof CrabCodeService>;
  readonly sender: AnswerSender;
}

/**
 * Events of one turn. When the connection is lost the call is made once more with the same key: it joins the turn,
 * and what was delivered before is dropped.
 */
export async function* messageStream(
  { client, ...deps }: MessageDeps,
  call: MessageCall,
): AsyncGenerator<CrabcodeClientEvent, void, undefined> {
  const controller = new AbortController();
  const { signal } = call;
  const onAbort = (): void => controller.abort(signal === undefined ? undefined : abortReason(signal));
  if (signal?.aborted === true) onAbort();
  signal?.addEventListener("abort", onAbort, { once: true });
  const onFailure = (error: unknown): void => controller.abort(error);
  using responder = new QuestionResponder(call.handlers, { ...deps, onFailure });
  const book = new CursorBook(call.request.sessionId);
  let isComplete = false;
  try {
    for (let attempt = 1; ; attempt += 1) {
      try {
        for await (const event of attemptOf(client, call, controller.signal)) {
          if (event.type === "server.heartbeat" || !book.accept(event)) continue;
          responder.observe(event);
          isComplete ||= event.type === "turn_complete";
          yield event;
        }
        return;
      } catch (error) {
        if (controller.signal.aborted) throw abortReason(controller.signal);
        // After turn_complete nothing is missing.
        if (isComplete) return;
        if (attempt > 1 || !call.isRepeatable || !isConnectionLoss(error)) throw fromConnectError(error);
      }
    }
  } finally {
    signal?.removeEventListener("abort", onAbort);
    controller.abort(new TriviumError("cancelled", "the turn was left"));
  }
}

async function* attemptOf(
  client: Client<typeof CrabCodeService>,
  { request, headers }: MessageCall,
  signal: AbortSignal,
): AsyncGenerator<CrabcodeClientEvent, void, undefined> {
  const options: CallOptions = { headers, signal };
  for await (const message of client.sendMessage(request, options)) yield parseEvent(message);
}
