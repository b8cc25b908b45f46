import { abortable, type Clock, type IdSource, type Logger, sleep } from "@trivium/core";
import type { Conversation } from "../conversation/conversation.ts";
import type { ModelFailure, ModelPort, ModelRequest } from "../ports/model-port.ts";
import type { LoopEvents } from "./loop-events.ts";
import { ResponseCollector } from "./response-collector.ts";

const RETRY_DELAYS_MS = [1000, 2000, 4000, 8000];
const MAX_RETRY_DELAY_MS = 8000;
const MAX_RETRY_AFTER_MS = 60_000;

/** What a step needs. */
export interface ModelStepDeps {
  readonly model: ModelPort;
  readonly events: LoopEvents;
  readonly conversation: Conversation;
  readonly clock: Clock;
  readonly ids: IdSource;
  readonly logger: Logger;
}

/** Tokens of all requests of a turn. */
export interface UsageTotals {
  inputTokens: number;
  outputTokens: number;
  cachedInputTokens: number | undefined;
  reasoningTokens: number | undefined;
}

/**
 * Gets one response, trying again while nothing of it was seen and the failure is a passing one.
 *
 * Never throws for what a provider does. When the request's signal aborts, the response is what came until then.
 */
export async function requestStep(
  deps: ModelStepDeps,
  request: ModelRequest,
  totals: UsageTotals,
): Promise<ResponseCollector> {
  const { model, events, clock } = deps;
  for (let attempt = 0; ; attempt++) {
    events.mode("requesting");
    const response = await streamResponse(deps, request);
    addUsage(totals, response);
    const { failure, hasOutput } = response;
    const mayRetry = failure?.kind === "transient" && !hasOutput && attempt < model.maxRetries;
    if (!mayRetry || request.signal.aborted) return response;
    const delayMs = retryDelayMs(failure, attempt);
    events.publish({
      type: "stream_retry",
      message: `trying again in ${delayMs / 1000} s`,
      error: failure.message.slice(0, 1000).toWellFormed(),
      retry_count: attempt + 1,
      max_retries: model.maxRetries,
      delay_seconds: delayMs / 1000,
      unbounded: false,
      transport_fallback: false,
      discarded_text_chars: 0,
      agent_id: events.agentId,
    });
    try {
      await sleep(clock, delayMs, request.signal);
    } catch {
      // Only the abort ends a sleep early; the loop sees it on the signal.
      return response;
    }
  }
}

async function streamResponse(deps: ModelStepDeps, request: ModelRequest): Promise<ResponseCollector> {
  const { model, events, conversation, ids, logger } = deps;
  const response = new ResponseCollector({ events, conversation, ids });
  const { signal } = request;
  let chunks: AsyncIterator<Parameters<ResponseCollector["take"]>[0]> | undefined;
  try {
    chunks = model.stream(request)[Symbol.asyncIterator]();
    for (;;) {
      const { done, value } = await abortable(chunks.next(), signal);
      if (done === true) break;
      response.take(value);
      if (response.failure !== undefined) break;
    }
  } catch (cause) {
    if (!signal.aborted) {
      logger.error({ model: model.model, provider: model.provider, cause }, "a model adapter failed");
      response.failure = { type: "error", kind: "other", message: describe(cause) };
    }
  }
  // An adapter that does not end its stream must not hold the turn.
  chunks?.return?.().catch((cause: unknown) => logger.debug({ cause }, "a model stream did not end cleanly"));
  response.end({ isCut: signal.aborted });
  return response;
}

/** The wait before another attempt: what the provider asks for, else longer each time. */
export function retryDelayMs({ retryAfterMs }: ModelFailure, attempt: number): number {
  if (retryAfterMs !== undefined) return Math.min(Math.max(0, retryAfterMs), MAX_RETRY_AFTER_MS);
  return RETRY_DELAYS_MS[attempt] ?? MAX_RETRY_DELAY_MS;
}

function addUsage(totals: UsageTotals, { usage }: ResponseCollector): void {
  if (usage === undefined) return;
  totals.inputTokens += usage.inputTokens;
  totals.outputTokens += usage.outputTokens;
  totals.cachedInputTokens = sum(totals.cachedInputTokens, usage.cachedInputTokens);
  totals.reasoningTokens = sum(totals.reasoningTokens, usage.reasoningTokens);
}

function sum(first: number | undefined, second: number | undefined): number | undefined {
  return second === undefined ? first : (first ?? 0) + second;
}

function describe(cause: unknown): string {
  return cause instanceof Error ? cause.message : "the model adapter failed";
}
