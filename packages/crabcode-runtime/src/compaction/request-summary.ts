import { abortable, abortReason, type Clock, type Logger, sleep } from "@trivium/core";
import type { Message } from "../conversation/message.ts";
import type { ModelChunk, ModelFailure, ModelLoop, ModelPort, ModelRequest } from "../ports/model-port.ts";
import { retryDelayMs } from "../turn/model-step.ts";
import { estimateTokens } from "../turn/token-estimate.ts";
import { renderConversation } from "./render-conversation.ts";
import { SUMMARY_SYSTEM, SUMMARY_TASK } from "./summary-texts.ts";

const SUMMARY_TOKENS = 4_096;
const WINDOW_RESERVE_TOKENS = 512;
const MIN_CONVERSATION_TOKENS = 256;
/** How often half of a conversation is tried when the provider finds it too large. */
const MAX_HALVINGS = 2;

/** What a summary is made with. */
export interface SummaryDeps {
  readonly model: ModelPort;
  readonly loop: ModelLoop;
  readonly clock: Clock;
  readonly logger: Logger;
}

/** What is to be summarised. */
export interface SummaryInput {
  readonly messages: readonly Message[];
  /** Of the person who asked for it; "" for none. */
  readonly instructions: string;
  readonly windowTokens: number;
  readonly signal: AbortSignal;
}

/** A summary, or why there is none. */
export type SummaryResult =
  | { readonly kind: "ok"; readonly text: string }
  | { readonly kind: "failed"; readonly message: string };

/**
 * Has the model summarise messages: no tools, no reasoning. Passing failures are tried again as those of a step are,
 * and a conversation that is too large with half of it.
 *
 * @throws the reason of the signal, nothing else
 */
export async function requestSummary(deps: SummaryDeps, input: SummaryInput): Promise<SummaryResult> {
  const { model, loop, clock } = deps;
  const { messages, instructions, windowTokens, signal } = input;
  // The rules are no language model; what they say would stand for the conversation.
  if (model.provider === "offline") return { kind: "failed", message: "no language model is configured" };
  const outputTokens = Math.min(SUMMARY_TOKENS, model.maxOutputTokens, Math.floor(windowTokens / 4));
  const extra = instructions.trim() === "" ? "" : `\nThe user asks for this in particular: ${instructions}`;
  const task = SUMMARY_TASK + extra;
  const asked = (roomTokens: number): ModelRequest => ({
    loop,
    system: [SUMMARY_SYSTEM],
    messages: [askFor(task, renderConversation(messages, Math.max(MIN_CONVERSATION_TOKENS, roomTokens)))],
    tools: [],
    maxOutputTokens: outputTokens,
    signal,
  });
  let roomTokens =
    windowTokens - outputTokens - WINDOW_RESERVE_TOKENS - estimateTokens(SUMMARY_SYSTEM + task);
  let [attempt, halvings] = [0, 0];
  for (;;) {
    const result = await streamSummary(deps, asked(roomTokens));
    if (!("failure" in result)) return result;
    const { failure } = result;
    if (failure.kind === "transient" && attempt < model.maxRetries) {
      await sleep(clock, retryDelayMs(failure, attempt++), signal);
    } else if (failure.kind === "contextOverflow" && halvings++ < MAX_HALVINGS) {
      // The provider counts more tokens than the estimate does.
      roomTokens = Math.floor(roomTokens / 2);
    } else return { kind: "failed", message: failure.message };
  }
}

function askFor(task: string, conversation: string): Message {
  const text = `<conversation>\n${conversation}\n</conversation>\n\n${task}`;
  return { role: "user", content: [{ type: "text", text }] };
}

async function streamSummary(
  { model, logger }: SummaryDeps,
  request: ModelRequest,
): Promise<SummaryResult | { readonly failure: ModelFailure }> {
  const { signal } = request;
  if (signal.aborted) throw abortReason(signal);
  let text = "";
  let isFiltered = false;
  let chunks: AsyncIterator<ModelChunk> | undefined;
  try {
    chunks = model.stream(request)[Symbol.asyncIterator]();
    for (;;) {
      const { done, value } = await abortable(chunks.next(), signal);
      if (done === true) break;
      if (value.type === "error") return { failure: value };
      if (value.type === "text") text += value.text;
      if (value.type === "finish") isFiltered = value.reason === "content-filter";
    }
  } catch (cause) {
    if (signal.aborted) throw abortReason(signal);
    logger.error({ model: model.model, provider: model.provider, cause }, "a model adapter failed");
    return { kind: "failed", message: cause instanceof Error ? cause.message : "the model adapter failed" };
  } finally {
    // An adapter that does not end its stream must not hold the turn.
    chunks
      ?.return?.()
      .catch((cause: unknown) => logger.debug({ cause }, "a model stream did not end cleanly"));
  }
  // An adapter may end its stream with the abort.
  if (signal.aborted) throw abortReason(signal);
  const summary = text.toWellFormed().trim();
  if (isFiltered) return { kind: "failed", message: "the provider's content filter stopped the summary" };
  return summary === ""
    ? { kind: "failed", message: "the model wrote no summary" }
    : { kind: "ok", text: summary };
}
