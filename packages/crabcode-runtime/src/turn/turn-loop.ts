import type { TurnCompleteReason } from "@trivium/proto/crabcode-events";
import type { Message, MessageBlock, MessageOrigin } from "../conversation/message.ts";
import type { ModelFailure, ModelRequest } from "../ports/model-port.ts";
import type { LoopDeps } from "./loop-deps.ts";
import { requestStep, type UsageTotals } from "./model-step.ts";
import type { ModelCall, ResponseCollector } from "./response-collector.ts";
import { estimateRequest } from "./token-estimate.ts";
import { interrupted, type StepCall } from "./tool-call.ts";
import { publishResult, runToolPhase } from "./tool-phase.ts";

/** Tokens of a window that are never filled. */
const WINDOW_RESERVE_TOKENS = 512;
/** An answer needs at least this much room. */
const MIN_OUTPUT_TOKENS = 256;
const MAX_ERROR_CHARS = 1000;

/** How a run ended, for its `turn_complete` or its agent. */
export interface TurnOutcome {
  readonly reason: TurnCompleteReason;
  /** Model requests that counted. */
  readonly turnCount: number;
  readonly usage: UsageTotals;
  /** Estimate of what the next request would send. */
  readonly contextTokens: number;
}

/**
 * Runs a loop until the model answers without calls, something ends it, or `signal` interrupts it.
 *
 * It never throws for what models and tools do; errors are events. When it returns, the history is valid and
 * every event but the last is published.
 */
export async function runTurnLoop(
  deps: LoopDeps,
  { maxTurns, signal }: { maxTurns: number; signal: AbortSignal },
): Promise<TurnOutcome> {
  const run = new TurnRun(deps, signal);
  let isResuming = deps.resumed !== undefined;
  for (;;) {
    const reason = isResuming ? await run.resume() : await run.step();
    isResuming = false;
    if (reason !== undefined) return run.outcome(reason);
    if (maxTurns > 0 && run.turnCount >= maxTurns) return run.outcome("max_turns_reached");
  }
}

class TurnRun {
  turnCount: number;
  readonly #deps: LoopDeps;
  readonly #signal: AbortSignal;
  /** Messages at the start of the run. */
  readonly #historyLength: number;
  readonly #usage: UsageTotals = {
    inputTokens: 0,
    outputTokens: 0,
    cachedInputTokens: undefined,
    reasoningTokens: undefined,
  };

  constructor(deps: LoopDeps, signal: AbortSignal) {
    this.#deps = deps;
    this.#signal = signal;
    this.#historyLength = deps.conversation.messages.length;
    this.turnCount = deps.resumed?.turnCount ?? 0;
    this.#usage.inputTokens = deps.resumed?.usage.input_tokens ?? 0;
    this.#usage.outputTokens = deps.resumed?.usage.output_tokens ?? 0;
  }

  /** The rest of a step that a restart cut. */
  async resume(): Promise<TurnCompleteReason | undefined> {
    const calls = this.#deps.resumed?.calls ?? [];
    return this.#runCalls(calls, this.#deps);
  }

  /** One request and its calls. The reason when the turn ends with it. */
  async step(): Promise<TurnCompleteReason | undefined> {
    if (this.#signal.aborted) return "interrupted";
    const { tools, mode, loop, model, system } = this.#deps;
    const request = { system, messages: this.#requestMessages(), tools: tools.offered(mode) };
    const freeTokens = model.contextWindowTokens - estimateRequest(request) - WINDOW_RESERVE_TOKENS;
    if (freeTokens < MIN_OUTPUT_TOKENS) return this.#overflow();
    this.turnCount++;
    const response = await this.#request({
      ...request,
      loop,
      maxOutputTokens: Math.min(model.maxOutputTokens, freeTokens),
      ...(model.thinking !== undefined && { thinking: model.thinking }),
      signal: this.#signal,
    });
    if (this.#signal.aborted) return this.#cut(response, "interrupted");
    if (response.failure !== undefined) return this.#fail(response, response.failure);
    if (response.calls.length === 0) return this.#answer(response);
    await this.#append({ role: "assistant", content: response.blocks });
    return this.#runCalls(response.calls, { ...this.#deps, resumed: undefined });
  }

  outcome(reason: TurnCompleteReason): TurnOutcome {
    const { system, tools, mode } = this.#deps;
    const contextTokens = estimateRequest({
      system,
      messages: this.#requestMessages(),
      tools: tools.offered(mode),
    });
    return { reason, turnCount: this.turnCount, usage: this.#usage, contextTokens };
  }

  async #request(request: ModelRequest): Promise<ResponseCollector> {
    const response = await requestStep(this.#deps, request, this.#usage);
    this.#deps.journal.progress(this.turnCount, {
      input_tokens: this.#usage.inputTokens,
      output_tokens: this.#usage.outputTokens,
    });
    return response;
  }

  async #runCalls(calls: readonly ModelCall[], deps: LoopDeps): Promise<TurnCompleteReason | undefined> {
    const steps = await runToolPhase(deps, calls, this.#signal);
    await this.#append({ role: "user", content: resultBlocks(steps) });
    if (this.#signal.aborted) return "interrupted";
    const isSwitched = steps.some(({ outcome }) => outcome?.endsTurn === true && !outcome.isError);
    return isSwitched ? "mode_switch_requested" : undefined;
  }

  async #answer(response: ResponseCollector): Promise<TurnCompleteReason> {
    if (response.hasText) {
      await this.#append({ role: "assistant", content: response.blocks });
      return "end_turn";
    }
    if (response.finishReason !== "content-filter") return "empty_response";
    const message = "the provider's content filter stopped the answer";
    this.#deps.events.error({ message, recoverable: true, error_type: "content_filter" });
    return "error";
  }

  #overflow(): TurnCompleteReason {
    const message = "the conversation does not fit into the context window of the model";
    this.#deps.events.error({ message, recoverable: true, error_type: "context_overflow" });
    return "context_overflow";
  }

  async #fail(response: ResponseCollector, failure: ModelFailure): Promise<TurnCompleteReason> {
    const { error_type, recoverable } = errorOf(failure);
    const reason = await this.#cut(
      response,
      error_type === "context_overflow" ? "context_overflow" : "error",
    );
    const message = failure.message.toWellFormed().slice(0, MAX_ERROR_CHARS).toWellFormed();
    this.#deps.events.error({ message, recoverable, error_type });
    return reason;
  }

  /** Keeps what clients saw of a response that did not come to its end; its calls do not run. */
  async #cut(response: ResponseCollector, reason: TurnCompleteReason): Promise<TurnCompleteReason> {
    const content = response.blocks.filter((block) => block.type !== "thinking");
    if (content.length > 0) await this.#append({ role: "assistant", content }, "partial");
    const steps = response.calls.map((call) => ({
      call,
      tool: undefined,
      prepared: undefined,
      targetPath: undefined,
      outcome: interrupted,
    }));
    for (const { call, outcome } of steps) publishResult(this.#deps, call, outcome);
    if (steps.length > 0) await this.#append({ role: "user", content: resultBlocks(steps) });
    return reason;
  }

  async #append(message: Message, origin?: MessageOrigin): Promise<void> {
    const { conversation, events, operationId, replyTo } = this.#deps;
    const eventSeq = await events.flush();
    await conversation.append(origin === undefined ? message : { ...message, origin }, {
      operationId,
      eventSeq,
      ...(replyTo !== undefined && message.role === "assistant" && { replyTo }),
    });
  }

  #requestMessages(): readonly Message[] {
    const { conversation, userContext, reminder } = this.#deps;
    const { messages } = conversation;
    const begun = this.#historyLength;
    const history =
      reminder === undefined ? messages : [...messages.slice(0, begun), reminder, ...messages.slice(begun)];
    if (userContext === undefined) return history;
    const context: Message = { role: "user", content: [{ type: "text", text: userContext }] };
    return [context, ...history];
  }
}

/** The results of a step as one message, in call order. */
function resultBlocks(steps: readonly StepCall[]): MessageBlock[] {
  return steps.map(({ call, outcome = interrupted }) => ({
    type: "tool_result",
    tool_use_id: call.toolUseId,
    content: outcome.result,
    is_error: outcome.isError,
  }));
}

function errorOf(failure: ModelFailure): {
  error_type: "" | "network" | "context_overflow" | "auth" | "config" | "content_filter";
  recoverable: boolean;
} {
  switch (failure.kind) {
    case "transient":
      return { error_type: "network", recoverable: true };
    case "contextOverflow":
      return { error_type: "context_overflow", recoverable: true };
    case "contentFilter":
      return { error_type: "content_filter", recoverable: true };
    case "auth":
      return { error_type: "auth", recoverable: false };
    case "config":
      return { error_type: "config", recoverable: false };
    case "other":
      return { error_type: "", recoverable: false };
  }
}
