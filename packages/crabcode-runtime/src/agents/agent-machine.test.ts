import fc from "fast-check";
import { expect, it } from "vitest";
import { CrabcodeError } from "../crabcode-error.ts";
import { type Payload, RuntimeFixture } from "../testing/runtime-fixture.ts";
import type { ScriptEntry } from "../testing/scripted-models.ts";

const step = fc.constantFrom("text", "held", "fails", "asks", "spawns");
const action = fc.constantFrom(
  "spawn",
  "spawn",
  "spawnWithCallback",
  "input",
  "replace",
  "cancel",
  "allow",
  "deny",
  "release",
  "send",
  "interrupt",
  "wait",
  "close",
);

const TERMINAL: readonly unknown[] = ["completed", "failed", "stopped"];
const NEXT: Readonly<Record<string, readonly unknown[]>> = {
  none: ["queued"],
  queued: ["running", "stopped"],
  running: TERMINAL,
  completed: ["queued"],
  failed: ["queued"],
  stopped: ["queued"],
};

it("agents keep to their states whatever happens, and everything ends", async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(step, { maxLength: 12 }),
      fc.array(action, { maxLength: 20 }),
      async (steps, actions) => {
        await using fixture = await RuntimeFixture.create({
          script: steps.map(toEntry),
          settings: { agent: { max_concurrency: 2, max_active_agents_per_run: 5 } },
          isInMemory: true,
        });
        const { runtime, clock } = fixture;
        const bus = await fixture.subscribe();
        const { sessionId } = await runtime.listModels("");
        const ids: string[] = [];
        const spawn = async (hasCallback: boolean): Promise<void> => {
          const spawned = await runtime.spawnAgent({ session: { sessionId }, prompt: "x", hasCallback });
          ids.push(spawned.agentId);
        };
        const last = (): { sessionId: string; agentId: string } => ({
          sessionId,
          agentId: ids.at(-1) ?? "none",
        });
        const pending: Promise<unknown>[] = [];
        // A call may wait for time to pass, so nobody waits for it here.
        const begin = (call: Promise<unknown>): void => void pending.push(call.catch(expectRefusal));
        const answer = (isAllowed: boolean): Promise<unknown> => {
          const asked = bus.events.filter(({ type }) => type === "permission_request").at(-1);
          return runtime.respondPermission({
            sessionId,
            toolUseId: asked === undefined ? "none" : String(asked["tool_use_id"]),
            isAllowed,
          });
        };
        const act: Record<string, () => void> = {
          spawn: () => begin(spawn(false)),
          spawnWithCallback: () => begin(spawn(true)),
          input: () => begin(runtime.sendAgentInput({ ...last(), prompt: "more" })),
          replace: () => begin(runtime.sendAgentInput({ ...last(), prompt: "other", interrupt: true })),
          cancel: () => begin(runtime.cancelAgent(last())),
          allow: () => begin(answer(true)),
          deny: () => begin(answer(false)),
          release: () => fixture.models.release("hold"),
          send: () => begin(fixture.send("hi", { isDetached: true })),
          interrupt: () => begin(runtime.interruptTurn("")),
          wait: () => begin(runtime.waitAgent({ sessionId, agentIds: ids, timeoutMs: 500 })),
          close: () => begin(runtime.closeSession(sessionId)),
        };
        for (const name of actions) {
          act[name]?.();
          await clock.advance(100);
        }
        fixture.models.release("hold");
        let isOver = false;
        const all = Promise.all(pending).finally(() => {
          isOver = true;
        });
        while (!isOver) await clock.advance(1000);
        await all;
        // A closed session is loaded by the listing, and hands on what was left to be told.
        await runtime.listAgents(sessionId);
        for (let round = 0; round < 5; round++) await clock.advance(1_900_000);

        const { agents } = await runtime.listAgents(sessionId);
        for (const agent of agents) {
          expect(TERMINAL).toContain(agent.status);
          expect(agent.finishedAt).toBeDefined();
          expect(agent.hasCallback || agent.callbackState === "disabled").toBe(true);
        }
        expectStates(bus.events);
        bus.leave();
      },
    ),
    { numRuns: 60, examples: [[["spawns"], ["spawn", "allow", "close"]]] },
  );
}, 120_000);

function expectRefusal(refusal: unknown): void {
  if (CrabcodeError.isInstance(refusal)) return;
  throw refusal;
}

function expectStates(events: readonly Payload[]): void {
  const states = new Map<unknown, string>();
  let running = 0;
  for (const event of events) {
    if (event.type !== "agent_state") continue;
    const before = states.get(event["agent_id"]) ?? "none";
    expect(NEXT[before], before).toContain(event["status"]);
    if (event["status"] === "running") running++;
    else if (before === "running") running--;
    expect(running).toBeLessThanOrEqual(2);
    states.set(event["agent_id"], String(event["status"]));
  }
  const ofType = (type: string): unknown[] =>
    events
      .filter((event) => event.type === type && event["replayed"] === undefined)
      .map((event) => `${String(event["agent_id"])}|${String(event["tool_use_id"])}`)
      .toSorted();
  // A subscription ends with its session; what was open then is settled for nobody.
  expect(ofType("permission_response").length).toBeLessThanOrEqual(ofType("permission_request").length);
}

function toEntry(kind: string): ScriptEntry {
  const call = (name: string, input: Record<string, unknown>): ScriptEntry => ({
    tool_calls: [{ id: "", name, input }],
  });
  switch (kind) {
    case "held":
      return { text: ["a", "b"], hold: "hold", hold_after_chunks: 1 };
    case "fails":
      return { failure: { kind: "auth", message: "failed" } };
    case "asks":
      return call("Bash", { command: "echo a" });
    case "spawns":
      return call("AgentSpawn", { prompt: "inner" });
    default:
      return { text: "done" };
  }
}
