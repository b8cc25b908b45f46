import { compactHistory } from "../compaction/compact-history.ts";
import { EMPTY_RETRY, isMarker } from "../compaction/summary-texts.ts";
import type { Message } from "../conversation/message.ts";
import { withWholeCalls } from "../conversation/whole-calls.ts";
import type { ModelFailure, ModelRequest } from "../ports/model-port.ts";
import type { LoopDeps } from "./loop-deps.ts";
import { estimateMessages, estimateRequest } from "./token-estimate.ts";

/** Tokens of a window that are never filled. */
const WINDOW_RESERVE_TOKENS = 512;
/** An answer needs at least this much room. */
const MIN_OUTPUT_TOKENS = 256;
/** Left free beside the answer before a history is compacted: this many tokens, or this part of a small window. */
const BUFFER_TOKENS = 20_000;
const BUFFER_SHARE = 0.15;
/** An answer reserves at most this part of a window, so that a small one is not compacted all the time. */
const MAX_OUTPUT_SHARE = 0.5;
/** A compaction that was no use is tried again once the history has grown by this part of the window. */
const RETRY_SHARE = 0.1;
/** A part of the history smaller than this part of the window is not worth a summary. */
const MIN_SUMMARISED_SHARE = 0.1;
/** What fits in the place of a request that was refused without naming a limit. */
const REFUSED_SHARE = 0.8;

/** Makes the requests of one run of a loop, and keeps them within the window of its model. */
export class StepRequests {
  readonly #deps: LoopDeps;
  readonly #signal: AbortSignal;
  /** Smaller than the model's once the provider has said so. */
  #windowTokens: number;
  /** The message that the reminder comes after; undefined: it comes first. */
  #anchor: Message | undefined;
  /** Size at which compacting was no use; 0 before. */
  #uselessTokens = 0;

  constructor(deps: LoopDeps, signal: AbortSignal) {
    this.#deps = deps;
    this.#signal = signal;
    this.#windowTokens = deps.model.contextWindowTokens;
    this.#anchor = deps.conversation.messages.at(-1);
  }

  /** Estimate of what the next request would send. */
  get contextTokens(): number {
    return estimateRequest(this.#content());
  }

  /**
   * The next request, after a compaction when it would be too large; undefined when it does not fit all the same.
   *
   * @throws the reason of the signal
   */
  async next(): Promise<ModelRequest | undefined> {
    const { isAutomatic } = this.#deps.compaction;
    if (isAutomatic && this.contextTokens > this.#limitTokens) await this.#compactWhenUseful();
    return this.#request();
  }

  /**
   * A smaller request in the place of one that the provider refused for its size; undefined when there is none.
   *
   * @throws the reason of the signal
   */
  async afterOverflow(refused: ModelRequest, failure: ModelFailure): Promise<ModelRequest | undefined> {
    const sentTokens = estimateRequest(refused);
    const named = failure.contextWindowTokens ?? Infinity;
    this.#windowTokens =
      named < this.#windowTokens
        ? named
        : Math.min(this.#windowTokens, Math.floor((sentTokens + refused.maxOutputTokens) * REFUSED_SHARE));
    if (this.#deps.compaction.isAutomatic) await this.#compact("overflow");
    const request = this.#request();
    if (request === undefined) return undefined;
    const isSmaller =
      estimateRequest(request) < sentTokens || request.maxOutputTokens < refused.maxOutputTokens;
    return isSmaller ? request : undefined;
  }

  /** True when nothing was answered since the history was compacted. */
  get isFreshlyCompacted(): boolean {
    const { messages } = this.#deps.conversation;
    const lastAnswer = messages.findLastIndex(({ role }) => role === "assistant");
    return messages.slice(lastAnswer + 1).some(isMarker);
  }

  /** The request again, with a word about the answer that had nothing in it. */
  afterNothing(request: ModelRequest): ModelRequest {
    const nudge: Message = { role: "user", content: [{ type: "text", text: EMPTY_RETRY }] };
    return { ...request, messages: [...request.messages, nudge] };
  }

  get #limitTokens(): number {
    const { model, compaction } = this.#deps;
    const windowTokens = this.#windowTokens;
    const outputTokens = Math.min(model.maxOutputTokens, windowTokens * MAX_OUTPUT_SHARE);
    const limit = windowTokens - outputTokens - Math.min(BUFFER_TOKENS, windowTokens * BUFFER_SHARE);
    const isNarrower = windowTokens < model.contextWindowTokens;
    const { maxContextTokens = limit } = compaction;
    return isNarrower ? Math.min(maxContextTokens, limit) : maxContextTokens;
  }

  async #compactWhenUseful(): Promise<void> {
    const tokens = this.contextTokens;
    const isTried =
      this.#uselessTokens > 0 && tokens < this.#uselessTokens + this.#windowTokens * RETRY_SHARE;
    if (isTried && this.#request() !== undefined) return;
    await this.#compact("auto");
    const { contextTokens } = this;
    this.#uselessTokens = contextTokens > this.#limitTokens ? contextTokens : 0;
  }

  async #compact(trigger: "auto" | "overflow"): Promise<void> {
    const { conversation, logger } = this.#deps;
    const overheadTokens = this.contextTokens - estimateMessages(conversation.messages);
    const isAutomatic = trigger === "auto";
    const result = await compactHistory(this.#deps, {
      trigger,
      windowTokens: this.#windowTokens,
      enoughTokens: isAutomatic ? this.#limitTokens - overheadTokens : undefined,
      minSummarisedTokens: isAutomatic ? this.#windowTokens * MIN_SUMMARISED_SHARE : 0,
      instructions: "",
      signal: this.#signal,
    });
    if (result.kind === "compacted") this.#anchor = conversation.messages.at(-1);
    else if (result.kind !== "unchanged") logger.info({ result }, "a compaction was not carried out");
  }

  #request(): ModelRequest | undefined {
    const { loop, model } = this.#deps;
    const content = this.#content();
    const freeTokens = this.#windowTokens - estimateRequest(content) - WINDOW_RESERVE_TOKENS;
    if (freeTokens < MIN_OUTPUT_TOKENS) return undefined;
    return {
      ...content,
      loop,
      maxOutputTokens: Math.min(model.maxOutputTokens, freeTokens),
      ...(model.thinking !== undefined && { thinking: model.thinking }),
      signal: this.#signal,
    };
  }

  #content(): Pick<ModelRequest, "system" | "messages" | "tools"> {
    const { system, tools, mode } = this.#deps;
    return { system, messages: this.#messages(), tools: tools.offered(mode) };
  }

  /** Between two steps: at the start of the run, or behind everything when that place is gone. */
  #reminderIndex(messages: readonly Message[]): number {
    if (this.#anchor === undefined) return 0;
    const index = messages.lastIndexOf(this.#anchor);
    return index < 0 ? messages.length : index + 1;
  }

  #messages(): readonly Message[] {
    const { conversation, userContext, reminder } = this.#deps;
    const { messages } = conversation;
    const at = this.#reminderIndex(messages);
    const history = withWholeCalls(
      reminder === undefined ? messages : [...messages.slice(0, at), reminder, ...messages.slice(at)],
    );
    if (userContext === undefined) return history;
    const context: Message = { role: "user", content: [{ type: "text", text: userContext }] };
    return [context, ...history];
  }
}
