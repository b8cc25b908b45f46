import type { TurnCompleteReason } from "@trivium/proto/crabcode-events";
import type { Message, MessageBlock, MessageOrigin } from "../conversation/message.ts";
import type { ModelFailure, ModelRequest } from "../ports/model-port.ts";
import type { LoopDeps } from "./loop-deps.ts";
import { requestStep, type UsageTotals } from "./model-step.ts";
import type { ModelCall, ResponseCollector } from "./response-collector.ts";
import { StepRequests } from "./step-requests.ts";
import { interrupted, type StepCall } from "./tool-call.ts";
import { publishResult, runToolPhase } from "./tool-phase.ts";

/** How often a step is tried with a smaller request after the provider found it too large. */
const MAX_OVERFLOW_RETRIES = 2;
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
  readonly #requests: StepRequests;
  readonly #usage: UsageTotals = {
    inputTokens: 0,
    outputTokens: 0,
    cachedInputTokens: undefined,
    reasoningTokens: undefined,
  };

  constructor(deps: LoopDeps, signal: AbortSignal) {
    this.#deps = deps;
    this.#signal = signal;
    this.#requests = new StepRequests(deps, signal);
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
    let response: ResponseCollector | undefined;
    try {
      const request = await this.#requests.next();
      if (request === undefined) return this.#overflow();
      this.turnCount++;
      response = await this.#request(request);
      response = await this.#askAgain(request, response);
    } catch (cause) {
      // What is asked of hooks and of the model on the way to a request rejects with the interrupt only.
      if (!this.#signal.aborted) throw cause;
    }
    if (response === undefined) return "interrupted";
    if (this.#signal.aborted) return this.#cut(response, "interrupted");
    if (response.failure !== undefined) return this.#fail(response, response.failure);
    if (response.calls.length === 0) return this.#answer(response);
    await this.#append({ role: "assistant", content: response.blocks });
    return this.#runCalls(response.calls, { ...this.#deps, resumed: undefined });
  }

  outcome(reason: TurnCompleteReason): TurnOutcome {
    return {
      reason,
      turnCount: this.turnCount,
      usage: this.#usage,
      contextTokens: this.#requests.contextTokens,
    };
  }

  /** Tries a step again that was too large, or that got nothing back behind a compacted history. */
  async #askAgain(first: ModelRequest, response: ResponseCollector): Promise<ResponseCollector> {
    let [request, last] = [first, response];
    for (let retry = 0; retry < MAX_OVERFLOW_RETRIES && isTooLarge(last); retry++) {
      const smaller = await this.#requests.afterOverflow(request, last.failure);
      if (smaller === undefined) return last;
      request = smaller;
      last = await this.#request(request, { isRetry: true });
    }
    if (!hasNothing(last) || !this.#requests.isFreshlyCompacted || this.#signal.aborted) return last;
    return this.#request(this.#requests.afterNothing(request), { isRetry: true });
  }

  async #request(request: ModelRequest, { isRetry = false } = {}): Promise<ResponseCollector> {
    if (!isRetry) this.#deps.events.startStep();
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
    if (response.finishReason !== "content-filter") {
      if (this.#requests.isFreshlyCompacted) {
        const message = "the model returned nothing after the conversation was compacted";
        this.#deps.events.error({ message, recoverable: true, error_type: "empty_response" });
      }
      return "empty_response";
    }
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
      feedback: [],
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
}

/** True for a request that was refused for its size before anything of an answer was seen. */
function isTooLarge(
  response: ResponseCollector,
): response is ResponseCollector & { readonly failure: ModelFailure } {
  return response.failure?.kind === "contextOverflow" && !response.hasOutput;
}

/** True for an answer without text and calls that nothing went wrong with. */
function hasNothing({ failure, calls, hasText, finishReason }: ResponseCollector): boolean {
  return failure === undefined && calls.length === 0 && !hasText && finishReason !== "content-filter";
}

/** The results of a step as one message, in call order; then what hooks said about its calls. */
function resultBlocks(steps: readonly StepCall[]): MessageBlock[] {
  const results = steps.map(
    ({ call, outcome = interrupted }): MessageBlock => ({
      type: "tool_result",
      tool_use_id: call.toolUseId,
      content: outcome.result,
      is_error: outcome.isError,
    }),
  );
  const feedback = steps.flatMap((step) => step.feedback);
  return [...results, ...feedback.map((text): MessageBlock => ({ type: "text", text }))];
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
