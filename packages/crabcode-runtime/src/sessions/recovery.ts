import type { TurnCompleteEvent } from "@trivium/proto/crabcode-events";
import { z } from "zod";
import type { OperationRecord } from "../store/operation-store.ts";
import { eventsOfOperation, settleCutRun } from "../turn/cut-run.ts";
import type { ResumedRun } from "../turn/loop-deps.ts";
import { LoopEvents } from "../turn/loop-events.ts";
import { cancelQuestions, openQuestions } from "../turn/open-questions.ts";
import { findResumableStep } from "../turn/resumable-step.ts";
import { settleLeftCells } from "./settle-left-cells.ts";
import { completeTurn, type TurnHost } from "./turn-runner.ts";

type Recovering = Pick<TurnHost, "parts" | "environment" | "questions">;

/** What a load found of an earlier process. */
export interface SessionRecovery {
  readonly isTurnRecovered: boolean;
  /** Agents that waited or ran. */
  readonly stoppedAgentCount: number;
}

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
  await settleLeftCells(host);
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
  const events = await eventsOfOperation(host.parts.bus, record);
  const started = operations.startedCalls(record.operationId);
  const nowMs = host.environment.clock.now();
  const step = findResumableStep(last.content, events, { started, nowMs });
  return step && { ...step, turnCount: record.turnCount, usage: record.usage };
}

/** Everything but the last event was written; perhaps that too. */
async function finishEnding(host: Recovering, record: OperationRecord): Promise<void> {
  const { operationId, completeEvent } = record;
  const events = await eventsOfOperation(host.parts.bus, record);
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
  const context = { operationId, scope: "background" as const };
  const published = await eventsOfOperation(bus, record);
  // Of calls of code cells: a question of the turn itself would have been asked again.
  cancelQuestions(host.questions, openQuestions(published), context);
  await settleCutRun({
    conversation,
    bus,
    events: new LoopEvents(bus, { agentId: null, context }),
    operationId,
    published,
    started: operations.startedCalls(operationId),
  });
  await completeTurn(host, {
    operationId,
    event: interruptedTurn(record),
    scope: "background",
    onEnd: () => {},
  });
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
