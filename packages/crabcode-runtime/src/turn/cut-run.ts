import { z } from "zod";
import type { Conversation } from "../conversation/conversation.ts";
import type { MessageBlock } from "../conversation/message.ts";
import type { PublishedEvent, SessionEventBus } from "../events/session-event-bus.ts";
import { cutNestedCalls } from "./cut-nested-calls.ts";
import type { LoopEvents } from "./loop-events.ts";
import { interrupted } from "./tool-call.ts";
import { publishResult } from "./tool-phase.ts";

const PAGE = 512;
const CRASHED_RESULT =
  "Interrupted: the server stopped while this call was running; it may have had an effect";

const textEvent = z.union([
  z.object({ type: z.literal("stream_text"), text: z.string() }),
  z.object({ type: z.literal("agent_output"), stream: z.literal("text"), text: z.string() }),
]);
const toolUseEvent = z.object({
  type: z.literal("tool_use"),
  tool_use_id: z.string(),
  tool_name: z.string(),
  tool_input: z.record(z.string(), z.unknown()),
  // Calls of code cells are no part of an answer.
  parent_tool_use_id: z.undefined().optional(),
});
const toolResultEvent = z.object({
  type: z.literal("tool_result"),
  tool_use_id: z.string(),
  result: z.string(),
  is_error: z.boolean(),
});

/** A run of a loop that the end of its process cut. */
export interface CutRun {
  readonly conversation: Conversation;
  readonly bus: SessionEventBus;
  /** For the results that are still missing. */
  readonly events: LoopEvents;
  readonly operationId: string;
  /** What the run published. */
  readonly published: readonly PublishedEvent[];
  /** Calls that had begun. */
  readonly started: ReadonlySet<string>;
}

/** Keeps what was streamed and gives every call its one result; no call is run again. */
export async function settleCutRun(run: CutRun): Promise<void> {
  await keepPartialAnswer(run);
  settleNestedCalls(run);
  const { conversation, events, operationId, started } = run;
  const open = conversation.openCalls;
  if (open.length === 0) return;
  const results = resultsOf(run.published);
  const content = open.map(({ id, name, input }): MessageBlock => {
    const known = results.get(id);
    if (known !== undefined) return { type: "tool_result", tool_use_id: id, ...known };
    const outcome = started.has(id) ? { result: CRASHED_RESULT, isError: true } : interrupted;
    publishResult({ events }, { toolUseId: id, name, input, problem: undefined }, outcome);
    return { type: "tool_result", tool_use_id: id, content: outcome.result, is_error: true };
  });
  const eventSeq = await events.flush();
  await conversation.append({ role: "user", content }, { operationId, eventSeq });
}

/** Before the results of the calls that had started their cells. */
export function settleNestedCalls({ events, published }: Pick<CutRun, "events" | "published">): void {
  for (const { parentToolUseId, wasWaiting, ...call } of cutNestedCalls(published)) {
    const outcome = wasWaiting ? interrupted : { result: CRASHED_RESULT, isError: true };
    publishResult({ events: events.nested(parentToolUseId) }, { ...call, problem: undefined }, outcome);
  }
}

/** What a run said, as far as the log still has it. */
export function publishedText(published: readonly PublishedEvent[]): string {
  return published.map(({ data }) => textEvent.safeParse(JSON.parse(data)).data?.text ?? "").join("");
}

/** The events of a turn or run, as far as the log still has them. */
export async function eventsOfOperation(
  bus: SessionEventBus,
  operation: {
    readonly operationId: string;
    readonly epoch: string | undefined;
    readonly afterSeq: number | undefined;
  },
): Promise<PublishedEvent[]> {
  if (operation.epoch !== bus.epoch) return [];
  const events: PublishedEvent[] = [];
  for (let afterSeq = operation.afterSeq ?? 0; ; ) {
    const page = await bus.readFrom(afterSeq, PAGE);
    const last = page.at(-1);
    if (last === undefined) return events;
    afterSeq = last.seq;
    events.push(...page.filter(({ operationId }) => operationId === operation.operationId));
  }
}

/** Text and calls that clients saw, of an answer that is not in the history yet. */
async function keepPartialAnswer({ conversation, bus, operationId, published }: CutRun): Promise<void> {
  const uncommitted = published.filter(({ seq }) => seq > conversation.lastEventSeq);
  const text = publishedText(uncommitted);
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
