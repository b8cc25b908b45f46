import type { TurnCompleteEvent } from "@trivium/proto/crabcode-events";
import { z } from "zod";
import type { MessageBlock } from "../conversation/message.ts";
import type { PublishedEvent } from "../events/session-event-bus.ts";
import type { OperationRecord } from "../store/operation-store.ts";
import type { ResumedRun } from "../turn/loop-deps.ts";
import { LoopEvents } from "../turn/loop-events.ts";
import { findResumableStep } from "../turn/resumable-step.ts";
import { interrupted } from "../turn/tool-call.ts";
import { publishResult } from "../turn/tool-phase.ts";
import { completeTurn, type TurnHost } from "./turn-runner.ts";

const PAGE = 512;
const CRASHED_RESULT =
  "Interrupted: the server stopped while this call was running; it may have had an effect";

const textEvent = z.object({ type: z.literal("stream_text"), text: z.string() });
const toolUseEvent = z.object({
  type: z.literal("tool_use"),
  agent_id: z.null(),
  tool_use_id: z.string(),
  tool_name: z.string(),
  tool_input: z.record(z.string(), z.unknown()),
});
const toolResultEvent = z.object({
  type: z.literal("tool_result"),
  agent_id: z.null(),
  tool_use_id: z.string(),
  result: z.string(),
  is_error: z.boolean(),
});

type Recovering = Pick<TurnHost, "parts" | "environment" | "questions">;

/** A message that is to be run after a restart. */
export interface RecoveredMessage {
  readonly record: OperationRecord;
  /** Set when its turn had begun and waited for an answer. */
  readonly resumed: ResumedRun | undefined;
}

/**
 * Brings every turn that the last process left unfinished to its end: what was streamed is kept, every call gets
 * its one result, and `turn_complete` is published. No call is run again.
 *
 * @returns what is to be run, in order: a turn that only waited for an answer, and messages that had not begun
 * and have an idempotency key
 */
export async function recoverOperations(host: Recovering): Promise<RecoveredMessage[]> {
  const { operations } = host.parts;
  const recovered: RecoveredMessage[] = [];
  for (const record of operations.unfinished()) {
    if (record.state === "queued") {
      if (record.idempotencyKey === undefined) operations.forget(record.operationId);
      else recovered.push({ record, resumed: undefined });
    } else if (record.state === "ending") await finishEnding(host, record);
    else {
      const resumed = await findResumedRun(host, record);
      if (resumed === undefined) await interruptTurn(host, record);
      else recovered.push({ record, resumed });
    }
  }
  return recovered;
}

async function findResumedRun(host: Recovering, record: OperationRecord): Promise<ResumedRun | undefined> {
  const { conversation, operations } = host.parts;
  const last = conversation.messages.at(-1);
  if (last?.role !== "assistant") return undefined;
  const events = await eventsOf(host, record);
  const started = operations.startedCalls(record.operationId);
  const nowMs = host.environment.clock.now();
  const step = findResumableStep(last.content, events, { started, nowMs });
  return step && { ...step, turnCount: record.turnCount, usage: record.usage };
}

/** Everything but the last event was written; perhaps that too. */
async function finishEnding(host: Recovering, record: OperationRecord): Promise<void> {
  const { operationId, completeEvent } = record;
  const events = await eventsOf(host, record);
  const last = events.find(({ type }) => type === "turn_complete");
  if (last !== undefined) {
    host.parts.operations.end(operationId, { completeSeq: last.seq, nowMs: host.environment.clock.now() });
    return;
  }
  const event = parseComplete(completeEvent) ?? interruptedTurn(record);
  await completeTurn(host, { operationId, event, scope: "background", onEnd: () => {} });
}

async function interruptTurn(host: Recovering, record: OperationRecord): Promise<void> {
  const { conversation, bus, operations } = host.parts;
  const { operationId } = record;
  const events = await eventsOf(host, record);
  await keepPartialAnswer(host, operationId, events);
  const open = conversation.openCalls;
  if (open.length > 0) {
    const started = operations.startedCalls(operationId);
    const results = resultsOf(events);
    const loopEvents = new LoopEvents(bus, { agentId: null, context: { operationId, scope: "background" } });
    const content = open.map(({ id, name, input }): MessageBlock => {
      const known = results.get(id);
      if (known !== undefined) return { type: "tool_result", tool_use_id: id, ...known };
      const outcome = started.has(id) ? { result: CRASHED_RESULT, isError: true } : interrupted;
      publishResult({ events: loopEvents }, { toolUseId: id, name, input, problem: undefined }, outcome);
      return { type: "tool_result", tool_use_id: id, content: outcome.result, is_error: true };
    });
    const eventSeq = await loopEvents.flush();
    await conversation.append({ role: "user", content }, { operationId, eventSeq });
  }
  await completeTurn(host, {
    operationId,
    event: interruptedTurn(record),
    scope: "background",
    onEnd: () => {},
  });
}

/** Text and calls that clients saw, of an answer that is not in the history yet. */
async function keepPartialAnswer(
  { parts }: Recovering,
  operationId: string,
  events: readonly PublishedEvent[],
): Promise<void> {
  const { conversation, bus } = parts;
  const uncommitted = events.filter(({ seq }) => seq > conversation.lastEventSeq);
  const text = uncommitted.map(({ data }) => textEvent.safeParse(JSON.parse(data)).data?.text ?? "").join("");
  const calls = uncommitted.flatMap(({ data }): MessageBlock[] => {
    const call = toolUseEvent.safeParse(JSON.parse(data)).data;
    if (call === undefined) return [];
    return [{ type: "tool_use", id: call.tool_use_id, name: call.tool_name, input: call.tool_input }];
  });
  const content = [...(text === "" ? [] : [{ type: "text" as const, text }]), ...calls];
  if (content.length === 0) return;
  await conversation.append(
    { role: "assistant", content, origin: "partial" },
    { operationId, eventSeq: bus.seq },
  );
}

function resultsOf(events: readonly PublishedEvent[]): Map<string, { content: string; is_error: boolean }> {
  const results = new Map<string, { content: string; is_error: boolean }>();
  for (const { data } of events) {
    const result = toolResultEvent.safeParse(JSON.parse(data)).data;
    if (result !== undefined) {
      results.set(result.tool_use_id, { content: result.result, is_error: result.is_error });
    }
  }
  return results;
}

/** The events of a turn, as far as the log still has them. */
async function eventsOf({ parts }: Recovering, record: OperationRecord): Promise<PublishedEvent[]> {
  const { bus } = parts;
  if (record.epoch !== bus.epoch) return [];
  const events: PublishedEvent[] = [];
  for (let afterSeq = record.afterSeq ?? 0; ; ) {
    const page = await bus.readFrom(afterSeq, PAGE);
    const last = page.at(-1);
    if (last === undefined) return events;
    afterSeq = last.seq;
    events.push(...page.filter(({ operationId }) => operationId === record.operationId));
  }
}

function interruptedTurn({ turnCount, usage }: OperationRecord): TurnCompleteEvent {
  return {
    type: "turn_complete",
    reason: "interrupted",
    turn_count: turnCount,
    usage,
    context_used_tokens: 0,
    context_window_tokens: 0,
    context_remaining_tokens: 0,
    context_used_percent: 0,
  };
}

const completeEventSchema = z.object({
  type: z.literal("turn_complete"),
  reason: z.enum([
    "end_turn",
    "max_turns_reached",
    "empty_response",
    "mode_switch_requested",
    "interrupted",
    "context_overflow",
    "error",
    "hook_blocked",
  ]),
  turn_count: z.number(),
  usage: z.record(z.string(), z.number()),
  context_used_tokens: z.number(),
  context_window_tokens: z.number(),
  context_remaining_tokens: z.number(),
  context_used_percent: z.number(),
});

function parseComplete(text: string | undefined): TurnCompleteEvent | undefined {
  return text === undefined ? undefined : completeEventSchema.safeParse(JSON.parse(text)).data;
}
