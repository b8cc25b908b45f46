import { type Logger, MemoryEventLogStore, silentLogger } from "@trivium/core";
import { ManualClock, sequentialIds } from "@trivium/core/testing";
import fc from "fast-check";
import { expect, it } from "vitest";
import { Conversation } from "../conversation/conversation.ts";
import type { Message, MessageBlock } from "../conversation/message.ts";
import { SessionEventBus } from "../events/session-event-bus.ts";
import { noHooks } from "../hooks/session-hooks.ts";
import type { ModelChunk, ModelPort } from "../ports/model-port.ts";
import type { Transcript, TranscriptRecord } from "../store/transcript.ts";
import { markToLine, parseMark } from "../store/transcript-mark.ts";
import { LoopEvents } from "../turn/loop-events.ts";
import { estimateMessages } from "../turn/token-estimate.ts";
import { compactHistory } from "./compact-history.ts";

const text = (maxLength: number): fc.Arbitrary<string> =>
  fc
    .tuple(fc.constantFrom("word ", "漢字", "𝕏y", "\n"), fc.integer({ min: 1, max: maxLength }))
    .map(([piece, length]) => piece.repeat(length).slice(0, length).toWellFormed());

const step = fc.record({
  said: fc.option(text(9_000)),
  results: fc.array(text(15_000), { minLength: 1, maxLength: 3 }),
  feedback: fc.option(text(50)),
});
const turn = fc.record({
  question: text(6_000),
  steps: fc.array(step, { maxLength: 4 }),
  answer: fc.option(text(9_000)),
});
const phase = fc.record({
  turns: fc.array(turn, { minLength: 1, maxLength: 4 }),
  trigger: fc.constantFrom("auto" as const, "overflow" as const, "manual" as const),
  windowTokens: fc.constantFrom(4_000, 30_000, 200_000),
  enoughTokens: fc.constantFrom(0, 8_000, 50_000),
  summary: fc.constantFrom("short", "", "failure", "word ".repeat(9_000)),
});

it("is valid, smaller, and the same after a restart, whatever the history", async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(phase, { minLength: 1, maxLength: 3 }), async (phases) => {
      const clock = new ManualClock();
      const ids = sequentialIds();
      const records: TranscriptRecord[] = [];
      const conversation = new Conversation({ records: [], transcript: keptIn(records), clock, ids });
      await using log = await openLog(clock);
      const events = new LoopEvents(log.bus, { agentId: null, context: {} });
      let callCount = 0;
      for (const { turns, trigger, summary, ...sizes } of phases) {
        const written = turns.flatMap((one) => messagesOf(one, () => `c${callCount++}`));
        // Within a turn the newest message is never an answer.
        if (trigger !== "manual" && written.at(-1)?.role === "assistant") written.pop();
        for (const message of written) await conversation.append(message, { operationId: "o", eventSeq: 0 });
        const before = [...conversation.messages];
        const entryCount = conversation.entries.length;
        const result = await compactHistory(
          {
            model: modelThatSays(summary),
            loop: { sessionId: "s", agentNumber: null, profile: "p" },
            conversation,
            events,
            hooks: noHooks,
            clock,
            ids,
            logger: silentLogger as Logger,
          },
          {
            trigger,
            windowTokens: sizes.windowTokens,
            enoughTokens: trigger === "auto" ? sizes.enoughTokens : undefined,
            minSummarisedTokens: 0,
            instructions: "",
            signal: new AbortController().signal,
          },
        );
        const after = conversation.messages;
        expect(conversation.entries).toHaveLength(entryCount);
        if (result.kind === "compacted") {
          expect(estimateMessages(after)).toBeLessThan(estimateMessages(before));
          expect(newestOf(after)?.role).toBe(newestOf(before)?.role);
          expect(textsOf(newestOf(after))).toEqual(textsOf(newestOf(before)));
        } else expect(after).toEqual(before);
        expect(after[0]?.role).toBe("user");
        assertPairs(after);
        const restored = new Conversation({ records, transcript: keptIn([]), clock, ids });
        expect(restored.messages).toEqual(after);
        expect(restored.projection.items).toEqual(conversation.projection.items);
      }
    }),
    { numRuns: 60 },
  );
});

function messagesOf(
  { question, steps, answer }: { question: string; steps: readonly Step[]; answer: string | null },
  newId: () => string,
): Message[] {
  const said = (words: string | null): MessageBlock[] =>
    words === null ? [] : [{ type: "text", text: words }];
  const messages: Message[] = [{ role: "user", content: said(question) }];
  for (const { said: words, results, feedback } of steps) {
    const calls = results.map(
      (): MessageBlock => ({ type: "tool_use", id: newId(), name: "Bash", input: { command: "x" } }),
    );
    messages.push({ role: "assistant", content: [...said(words), ...calls] });
    const content = results.map((result, index): MessageBlock => {
      const call = calls[index];
      const id = call?.type === "tool_use" ? call.id : "";
      return { type: "tool_result", tool_use_id: id, content: result, is_error: false };
    });
    messages.push({ role: "user", content: [...content, ...said(feedback)] });
  }
  if (answer !== null) messages.push({ role: "assistant", content: said(answer) });
  return messages;
}

type Step = { said: string | null; results: readonly string[]; feedback: string | null };

/** The newest message that no compaction made. */
function newestOf(messages: readonly Message[]): Message | undefined {
  return messages.findLast(({ origin }) => origin !== "compact-summary");
}

/** Results may have been shortened. */
function textsOf(message: Message | undefined): string[] {
  return (message?.content ?? []).map((block) => (block.type === "text" ? block.text : block.type));
}

function assertPairs(messages: readonly Message[]): void {
  for (const [index, { content }] of messages.entries()) {
    const next = messages[index + 1]?.content ?? [];
    const calls = content.flatMap((block) => (block.type === "tool_use" ? [block.id] : []));
    expect(next.flatMap((block) => (block.type === "tool_result" ? [block.tool_use_id] : []))).toEqual(calls);
  }
  expect(messages[0]?.content.filter(({ type }) => type === "tool_result")).toEqual([]);
}

/** Marks go through the form they have in the file. */
function keptIn(records: TranscriptRecord[]): Transcript {
  return {
    append: async (entry) => void records.push({ kind: "message", entry }),
    appendMark: async (mark) => {
      const read = parseMark(JSON.parse(JSON.stringify(markToLine(mark))));
      if (read !== undefined) records.push({ kind: "mark", mark: read });
    },
    sync: () => Promise.resolve(),
    close: () => Promise.resolve(),
  };
}

function modelThatSays(summary: string): ModelPort {
  return {
    provider: "script",
    model: "m",
    contextWindowTokens: 200_000,
    maxOutputTokens: 16_384,
    maxRetries: 0,
    allowsBackgroundRequests: false,
    async *stream(): AsyncIterable<ModelChunk> {
      if (summary === "failure") yield { type: "error", kind: "other", message: "no" };
      else yield { type: "text", text: summary };
    },
  };
}

async function openLog(clock: ManualClock): Promise<AsyncDisposable & { readonly bus: SessionEventBus }> {
  const store = new MemoryEventLogStore({ clock });
  const log = await store.open("s");
  const bus = new SessionEventBus({ sessionId: "s", log, clock, logger: silentLogger });
  return {
    bus,
    [Symbol.asyncDispose]: async () => {
      await bus.close();
      await store.close();
    },
  };
}
