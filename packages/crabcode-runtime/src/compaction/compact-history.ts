import type { IdSource } from "@trivium/core";
import type { Conversation } from "../conversation/conversation.ts";
import type { Message } from "../conversation/message.ts";
import type { LoopHooks } from "../hooks/session-hooks.ts";
import type { LoopEvents } from "../turn/loop-events.ts";
import { estimateMessages } from "../turn/token-estimate.ts";
import { tailStart } from "./boundaries.ts";
import { fallbackSummary } from "./fallback-summary.ts";
import { requestSummary, type SummaryDeps } from "./request-summary.ts";
import { shortenResults, type ViewItem } from "./shorten-results.ts";
import {
  CONTINUE_CONVERSATION,
  CONTINUE_TURN,
  compactionMessage,
  isMarker,
  SUMMARY_START,
} from "./summary-texts.ts";

const TAIL_TOKENS = 12_000;
/** A view of fewer messages is not summarised. */
export const MIN_MESSAGES = 4;

/** What compacting works with. */
export interface CompactionDeps extends SummaryDeps {
  readonly conversation: Conversation;
  readonly events: LoopEvents;
  readonly hooks: LoopHooks;
  readonly ids: IdSource;
}

/** How a view is to be compacted. */
export interface CompactionOrder {
  readonly trigger: "auto" | "overflow" | "manual";
  readonly windowTokens: number;
  /** Tokens the messages may have afterwards for shortened results to be enough. Undefined: they never are. */
  readonly enoughTokens: number | undefined;
  /** A part of fewer tokens is not worth a summary. */
  readonly minSummarisedTokens: number;
  /** Of the person who asked for it; "" for none. */
  readonly instructions: string;
  readonly signal: AbortSignal;
}

/** What became of it. `failed`: only of a manual one; the others have a summary without a model then. */
export type CompactionResult =
  | { readonly kind: "compacted" }
  | { readonly kind: "unchanged" }
  | { readonly kind: "blocked" | "failed"; readonly message: string };

/**
 * Makes what the model is sent smaller: cuts long tool results, and where that is not enough puts a summary in the
 * place of everything but the newest messages. The transcript keeps everything.
 *
 * @throws the reason of the signal; then nothing has changed
 */
export async function compactHistory(
  deps: CompactionDeps,
  order: CompactionOrder,
): Promise<CompactionResult> {
  const before: readonly ViewItem[] = deps.conversation.projection.items;
  const shortened = shortenResults(before);
  const view = { deps, order, before };
  const { enoughTokens } = order;
  const isEnough = enoughTokens !== undefined && tokensOf(shortened) <= enoughTokens;
  if (isEnough && shortened !== before) return commit(view, shortened);
  const at = tailStart(shortened, Math.min(TAIL_TOKENS, Math.floor(order.windowTokens / 4)));
  const old = shortened.slice(0, at).map(({ message }) => message);
  const isWorthwhile =
    shortened.length >= MIN_MESSAGES && at > 0 && estimateMessages(old) >= order.minSummarisedTokens;
  if (!isWorthwhile) return commitIfSmaller(view, shortened);
  return summarise(view, { old, tail: shortened.slice(at), shortened });
}

interface View {
  readonly deps: CompactionDeps;
  readonly order: CompactionOrder;
  readonly before: readonly ViewItem[];
}

async function summarise(view: View, { old, tail, shortened }: Parts): Promise<CompactionResult> {
  const { deps, order } = view;
  const { trigger, instructions, windowTokens, signal } = order;
  deps.events.mode("compacting");
  const payload = { session_id: deps.loop.sessionId, trigger };
  const agentId = deps.events.agentId;
  const verdict = await deps.hooks.run({
    event: "pre_compact",
    payload: { ...payload, custom_instructions: instructions },
    agentId,
    signal,
  });
  if (verdict.isBlocked) return { kind: "blocked", message: verdict.feedback };
  const messages = old.filter((message) => !isMarker(message));
  const summary = await requestSummary(deps, { messages, instructions, windowTokens, signal });
  const mayFail = trigger === "manual" && deps.model.provider !== "offline";
  if (summary.kind === "failed") {
    deps.logger.warn({ ...payload, reason: summary.message }, "a conversation could not be summarised");
    if (mayFail) return summary;
  }
  const text = summary.kind === "ok" ? summary.text : fallbackSummary(messages);
  const marker = trigger === "manual" ? CONTINUE_CONVERSATION : CONTINUE_TURN;
  const after: ViewItem[] = [
    { uuid: deps.ids.uuid(), message: compactionMessage(`${SUMMARY_START} ${text}]`) },
    ...tail.filter(({ message }) => !isMarker(message)),
    { uuid: deps.ids.uuid(), message: compactionMessage(marker) },
  ];
  if (tokensOf(after) >= tokensOf(shortened)) return commitIfSmaller(view, shortened);
  // It is told what happened; whatever it thinks of it changes nothing.
  await deps.hooks.run({
    event: "post_compact",
    payload: { ...payload, compact_summary: text },
    agentId,
    signal,
  });
  return commit(view, after);
}

interface Parts {
  readonly old: readonly Message[];
  readonly tail: readonly ViewItem[];
  readonly shortened: readonly ViewItem[];
}

async function commitIfSmaller(view: View, after: readonly ViewItem[]): Promise<CompactionResult> {
  // A manual compaction says that it could not make a summary that is smaller.
  const isSmaller = view.order.trigger !== "manual" && tokensOf(after) < tokensOf(view.before);
  return isSmaller ? commit(view, after) : { kind: "unchanged" };
}

/** Makes `after` what the model is sent; durable when it resolves. */
async function commit({ deps, order, before }: View, after: readonly ViewItem[]): Promise<CompactionResult> {
  const { conversation, events, clock } = deps;
  const { trigger } = order;
  const known = new Map(before.map(({ uuid, message }) => [uuid, message]));
  await conversation.appendMark({
    type: "compaction",
    timestamp: new Date(clock.now()).toISOString(),
    trigger,
    messages: after.map(({ uuid, message }) => (known.get(uuid) === message ? { uuid } : { uuid, message })),
  });
  const isSummarised = after[0]?.uuid !== before[0]?.uuid;
  events.publish({
    type: "compact",
    summary: isSummarised ? "older messages were summarised" : "older tool results were shortened",
    messages_before: before.length,
    messages_after: after.length,
    trigger,
    agent_id: events.agentId,
  });
  return { kind: "compacted" };
}

function tokensOf(items: readonly ViewItem[]): number {
  return estimateMessages(items.map(({ message }) => message));
}
