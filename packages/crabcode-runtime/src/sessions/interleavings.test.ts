import { ManualClock } from "@trivium/core/testing";
import fc from "fast-check";
import { expect, it } from "vitest";
import { CrabcodeError } from "../crabcode-error.ts";
import { RecordingEventLogs } from "../testing/recording-event-logs.ts";
import { type Payload, type Reader, RuntimeFixture } from "../testing/runtime-fixture.ts";
import type { ScriptEntry } from "../testing/scripted-models.ts";

const RUNS = Number(process.env["TRIVIUM_INTERLEAVINGS"] ?? 40);

const step = fc.constantFrom("text", "held", "fails", "asks", "chooses", "spawns");
const action = fc.constantFrom(
  "send",
  "send",
  "release",
  "allow",
  "deny",
  "choose",
  "interrupt",
  "spawn",
  "cancelAgent",
  "leave0",
  "resume0",
  "leave1",
  "resume1",
  "prune",
  "close",
);

it("what each of two watchers saw is the log, without a hole or with the hole said", async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(step, { maxLength: 16 }),
      fc.array(action, { minLength: 4, maxLength: 30 }),
      async (steps, actions) => {
        const clock = new ManualClock();
        const logs = new RecordingEventLogs(clock);
        await using fixture = await RuntimeFixture.create({
          script: steps.map(toEntry),
          isInMemory: true,
          runtime: { eventLogs: logs, clock, eventRetention: { maxEvents: 12 } },
        });
        const { runtime, models } = fixture;
        const { sessionId } = await runtime.listModels("");
        const watchers = [new Watcher(fixture, sessionId), new Watcher(fixture, sessionId)] as const;
        for (const watcher of watchers) await watcher.resume();
        const agentIds: string[] = [];
        const pending: Promise<unknown>[] = [];
        const begin = (call: Promise<unknown>): void => void pending.push(call.catch(expectRefusal));
        const asked = (type: string): string => {
          const id = written(logs).findLast((event) => event.type === type)?.["tool_use_id"];
          return typeof id === "string" ? id : "none";
        };
        const permit = (isAllowed: boolean): void =>
          begin(runtime.respondPermission({ sessionId, toolUseId: asked("permission_request"), isAllowed }));
        const act: Record<string, () => unknown> = {
          send: () => begin(fixture.send("hi", { isDetached: true })),
          release: () => models.release("hold"),
          allow: () => permit(true),
          deny: () => permit(false),
          choose: () =>
            begin(runtime.respondChoice({ sessionId, toolUseId: asked("choice_request"), selected: ["a"] })),
          interrupt: () => begin(runtime.interruptTurn(sessionId)),
          spawn: () =>
            begin(
              runtime
                .spawnAgent({ session: { sessionId }, prompt: "x", hasCallback: true })
                .then(({ agentId }) => agentIds.push(agentId)),
            ),
          cancelAgent: () => begin(runtime.cancelAgent({ sessionId, agentId: agentIds.at(-1) ?? "none" })),
          leave0: () => watchers[0].leave(),
          resume0: () => watchers[0].resume(),
          leave1: () => watchers[1].leave(),
          resume1: () => watchers[1].resume(),
          prune: () => clock.advance(3_600_000),
          close: () => begin(runtime.closeSession(sessionId)),
        };
        for (const name of actions) {
          await act[name]?.();
          await clock.advance(50);
        }
        models.release("hold");
        let isOver = false;
        const all = Promise.all(pending).finally(() => {
          isOver = true;
        });
        // What still waits for an answer expires.
        while (!isOver) await clock.advance(600_000);
        await all;
        for (let round = 0; round < 3; round++) await clock.advance(1_900_000);

        for (const watcher of watchers) {
          await watcher.resume();
          await clock.advance(1000);
          watcher.expectWhole(written(logs));
          watcher.leave();
        }
      },
    ),
    { numRuns: RUNS },
  );
}, 3_600_000);

/** A client that comes back with the last number it has seen. */
class Watcher {
  readonly #fixture: RuntimeFixture;
  readonly #sessionId: string;
  readonly #seen: Payload[] = [];
  #reader: Reader | undefined;
  #taken = 0;

  constructor(fixture: RuntimeFixture, sessionId: string) {
    this.#fixture = fixture;
    this.#sessionId = sessionId;
  }

  async resume(): Promise<void> {
    this.leave();
    const cursor = this.#cursor();
    const afterSeq = cursor === undefined ? {} : { afterSeq: cursor };
    this.#reader = await this.#fixture.watch({ sessionId: this.#sessionId, ...afterSeq });
    this.#taken = 0;
    await this.#reader.find({ type: "server.connected" });
  }

  leave(): void {
    this.#reader?.leave();
    this.#take();
    this.#reader = undefined;
  }

  expectWhole(log: readonly Payload[]): void {
    this.#take();
    const [connected] = this.#seen;
    let last = seqOf(connected?.["properties"], "seq");
    for (const event of this.#seen) {
      if (event["replayed"] === true) continue;
      if (event.type === "server.gap") {
        expect(event["properties"]).toMatchObject({ reason: "retention", from_seq: last + 1 });
        last = seqOf(event["properties"], "to_seq");
      }
      if (event.type.startsWith("server.")) continue;
      const first = seqOf(event, "seq_from", seqOf(event, "seq"));
      expect(first, event.type).toBe(last + 1);
      last = seqOf(event, "seq");
      const own = log.slice(first - 1, last);
      if (own.length === 1) expect(event).toEqual(own[0]);
      else expect(event["text"]).toBe(own.map(({ text }) => text).join(""));
    }
    expect(last).toBe(log.length);
  }

  #take(): void {
    const events = this.#reader?.events ?? [];
    this.#seen.push(...events.slice(this.#taken));
    this.#taken = events.length;
  }

  /** Where this watcher is; before its first event where its first subscription began. */
  #cursor(): string | undefined {
    const [connected] = this.#seen;
    if (connected === undefined) return undefined;
    let position = seqOf(connected["properties"], "seq");
    for (const event of this.#seen) {
      if (event["replayed"] === true) continue;
      if (event.type === "server.gap") position = seqOf(event["properties"], "to_seq");
      else if (!event.type.startsWith("server.")) position = seqOf(event, "seq");
    }
    const { epoch } = connected["properties"] as { epoch: string };
    return `${epoch}:${position}`;
  }
}

function written(logs: RecordingEventLogs): Payload[] {
  return [...logs.written.values()].flat().map((data) => JSON.parse(data) as Payload);
}

function seqOf(from: unknown, key: string, otherwise = -1): number {
  const value = typeof from === "object" && from !== null ? Reflect.get(from, key) : undefined;
  return typeof value === "number" ? value : otherwise;
}

function expectRefusal(refusal: unknown): void {
  if (CrabcodeError.isInstance(refusal)) return;
  throw refusal;
}

function toEntry(kind: string): ScriptEntry {
  const call = (name: string, input: Record<string, unknown>): ScriptEntry => ({
    tool_calls: [{ id: "", name, input }],
  });
  switch (kind) {
    case "held":
      return { text: ["a", "b", "c"], hold: "hold", hold_after_chunks: 1 };
    case "fails":
      return { failure: { kind: "auth", message: "failed" } };
    case "asks":
      return call("Bash", { command: "echo a" });
    case "chooses":
      return call("AskUser", { question: "which", options: ["a", "b"] });
    case "spawns":
      return call("AgentSpawn", { prompt: "inner" });
    default:
      return { text: ["done", " well"] };
  }
}
