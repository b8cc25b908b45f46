import fc from "fast-check";
import { expect, it } from "vitest";
import { type Payload, type Reader, RuntimeFixture } from "../testing/runtime-fixture.ts";
import type { ScriptEntry } from "../testing/scripted-models.ts";

const call = fc.constantFrom("Bash", "Glob", "AskUser", "Nope", "Broken");
const step = fc.record({
  text: fc.option(fc.constantFrom("a", "b")),
  calls: fc.array(call, { maxLength: 3 }),
  failure: fc.option(fc.constantFrom("auth" as const, "transient" as const), { freq: 6 }),
  isHeld: fc.boolean(),
});
const action = fc.constantFrom(
  "send",
  "send",
  "allow",
  "allow",
  "deny",
  "choose",
  "cancel",
  "interrupt",
  "release",
  "plan",
  "agent",
  "wait",
  "expire",
);

it("keeps its promises whatever clients do, and when", async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(step, { maxLength: 8 }),
      fc.array(action, { maxLength: 25 }),
      async (steps, actions) => {
        await using fixture = await RuntimeFixture.create({ script: steps.map(toEntry), isInMemory: true });
        const bus = await fixture.subscribe();
        const calls: { reader: Reader; cancel: AbortController }[] = [];
        const ignore = (): void => {};
        const openQuestion = (type: string): string => {
          const asked = bus.events.filter((event) => event.type === type);
          return asked.map(toolUseId).at(-1) ?? "none";
        };
        const act: Record<string, () => Promise<unknown> | void> = {
          send: async () => {
            const cancel = new AbortController();
            const reader = await fixture.send("x", { signal: cancel.signal, maxTurns: 4 });
            calls.push({ reader, cancel });
          },
          allow: () => answer(true),
          deny: () => answer(false),
          choose: () =>
            fixture.runtime
              .respondChoice({ sessionId: "", toolUseId: openQuestion("choice_request"), selected: ["a"] })
              .catch(ignore),
          cancel: () => calls.at(-1)?.cancel.abort(),
          interrupt: () => void fixture.runtime.interruptTurn(""),
          release: () => fixture.models.release("hold"),
          plan: () => fixture.runtime.switchMode("", "plan"),
          agent: () => fixture.runtime.switchMode("", "agent"),
          wait: () => fixture.clock.advance(1000),
          expire: () => fixture.clock.advance(1_800_000),
        };
        const answer = (isAllowed: boolean): Promise<unknown> =>
          fixture.runtime
            .respondPermission({ sessionId: "", toolUseId: openQuestion("permission_request"), isAllowed })
            .catch(ignore);
        for (const name of actions) {
          // A full queue refuses, which is one of the promises.
          await Promise.resolve(act[name]?.()).catch((refusal: unknown) =>
            expect(refusal).toMatchObject({ reason: "QUEUE_FULL" }),
          );
          await fixture.clock.advance(0);
        }
        fixture.models.release("hold");
        let isOver = false;
        const all = Promise.all(calls.map(({ reader }) => reader.ended)).finally(() => {
          isOver = true;
        });
        while (!isOver) await fixture.clock.advance(1_900_000);
        await all;

        await fixture.clock.advance(0);
        expectPromises(bus.events.filter(({ seq }) => seq !== undefined));
        for (const request of fixture.models.requests) {
          for (const [index, { content }] of request.messages.entries()) {
            const uses = content.flatMap((block) => (block.type === "tool_use" ? [block.id] : []));
            const results = request.messages[index + 1]?.content.flatMap((block) =>
              block.type === "tool_result" ? [block.tool_use_id] : [],
            );
            if (uses.length > 0) expect(results).toEqual(uses);
          }
        }
        bus.leave();
      },
    ),
    { numRuns: 60 },
  );
}, 60_000);

function toolUseId(event: Payload): string {
  return typeof event["tool_use_id"] === "string" ? event["tool_use_id"] : "";
}

function expectPromises(events: readonly Payload[]): void {
  expect(events.map(({ seq }) => seq)).toEqual(events.map((_, index) => index + 1));
  const byTurn = Map.groupBy(
    events.filter((event) => event["operation_id"] !== undefined),
    (event) => event["operation_id"],
  );
  for (const turn of byTurn.values()) {
    const types = turn.map(({ type }) => type);
    expect(types.indexOf("turn_complete")).toBe(types.length - 1);
    const idsOf = (type: string): string[] =>
      turn
        .filter((event) => event.type === type)
        .map(toolUseId)
        .toSorted((first, second) => first.localeCompare(second));
    expect(idsOf("tool_result")).toEqual(idsOf("tool_use"));
    expect(idsOf("permission_response")).toEqual(idsOf("permission_request"));
    expect(idsOf("choice_response")).toEqual(idsOf("choice_request"));
  }
  // Turns do not interleave.
  const turns = events.flatMap((event) => event["operation_id"] ?? []);
  const changes = turns.filter((id, index) => id !== turns[index - 1]);
  expect(changes).toHaveLength(new Set(changes).size);
}

function toEntry({
  text,
  calls,
  failure,
  isHeld,
}: {
  text: string | null;
  calls: string[];
  failure: "auth" | "transient" | null;
  isHeld: boolean;
}): ScriptEntry {
  return {
    ...(text !== null && { text: [text, text] }),
    ...(calls.length > 0 && {
      tool_calls: calls.map((name) => {
        if (name === "Broken") return { id: "", name: "Bash", raw_input: "{" };
        const inputs: Record<string, Record<string, unknown>> = {
          Bash: { command: "echo a" },
          Glob: { pattern: "*" },
          AskUser: { question: "?", options: ["a", "b"] },
        };
        return { id: "", name, input: inputs[name] ?? {} };
      }),
    }),
    ...(failure !== null && { failure: { kind: failure, message: "failed" }, failsAfterOutput: isHeld }),
    ...(isHeld && { hold: "hold", hold_after_chunks: 1 }),
  };
}
