import { spawn } from "node:child_process";
import { once } from "node:events";
import { appendFileSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { SqliteEventLogStore } from "@trivium/core/node";
import { temporaryFolder } from "@trivium/core/testing";
import { expect, it, onTestFinished } from "vitest";
import type { Message } from "../conversation/message.ts";
import { createCrabcodeRuntime } from "../create-crabcode-runtime.ts";
import { MemoryToolbox } from "../testing/memory-toolbox.ts";
import { type Payload, Reader } from "../testing/runtime-fixture.ts";
import { ScriptedModels } from "../testing/scripted-models.ts";

const KILLS = Number(process.env["TRIVIUM_KILLS"] ?? 6);
/** Events of a whole run, a few more or less. */
const EVENTS = 55;

const points = Array.from({ length: KILLS }, (_, index) => ({
  afterEvents: KILLS <= 6 ? [1, 6, 13, 22, 30, 40][index] : 1 + Math.floor(Math.random() * EVENTS),
  isAnswered: index % 4 !== 3,
}));

it.each(points)(
  "a process that is killed after event $afterEvents (answers: $isAnswered) leaves what the next one can go on with",
  async ({ afterEvents, isAnswered }) => {
    await using folder = await temporaryFolder();
    await killAfter(folder.path, { afterEvents: afterEvents ?? 1, isAnswered });

    const models = new ScriptedModels(Array.from({ length: 20 }, () => ({ text: "ok" })));
    const toolbox = new MemoryToolbox();
    toolbox.onCommand = ({ command }) => {
      appendFileSync(join(folder.path, "effects"), `${command}\n`);
      return Promise.resolve({ stdout: "ran\n" });
    };
    await using eventLogs = closing(new SqliteEventLogStore({ path: join(folder.path, "events.sqlite") }));
    await using runtime = createCrabcodeRuntime({
      dataDir: folder.path,
      eventLogs: eventLogs.store,
      models,
      openToolbox: toolbox.open,
      workspaceRoots: [folder.path],
      settings: {
        base: { permissions: { allow: [{ tool: "Bash", command: "effect *" }, { tool: "AgentSpawn" }] } },
      },
    });
    const { sessionId } = await runtime.listModels("");
    const abort = new AbortController();
    const { events } = await runtime.subscribe({
      session: { sessionId },
      afterSeq: "0",
      signal: abort.signal,
    });
    const answered = new Set<string>();
    const answering = async function* (): AsyncIterable<{ type: string; payloadJson: string }> {
      for await (const event of events) {
        yield event;
        if (event.type !== "permission_request") continue;
        const { tool_use_id: toolUseId } = JSON.parse(event.payloadJson) as { tool_use_id: string };
        // What was settled before the end is refused, and what was asked twice is answered once.
        if (answered.has(toolUseId)) continue;
        const isTaken = await runtime.respondPermission({ sessionId, toolUseId, isAllowed: true }).then(
          () => true,
          () => false,
        );
        if (isTaken) answered.add(toolUseId);
      }
    };
    const bus = new Reader(answering(), abort);
    const { events: after } = await runtime.sendMessage({ session: { sessionId }, text: "after" });
    expect((await new Reader(after).all()).at(-1)).toMatchObject({
      type: "turn_complete",
      reason: "end_turn",
    });

    // Results of agents are handed over as soon as nothing else runs.
    for (;;) {
      const { agents } = await runtime.listAgents(sessionId);
      for (const { status } of agents) expect(["completed", "failed", "stopped"]).toContain(status);
      if (agents.every(({ callbackState }) => callbackState === "delivered")) break;
      await new Promise(setImmediate);
    }
    const { events: last } = await runtime.sendMessage({ session: { sessionId }, text: "last" });
    await new Reader(last).all();
    const history = models.requests.at(-1)?.messages ?? [];
    expectPairs(history);
    const { agents } = await runtime.listAgents(sessionId);
    const text = JSON.stringify(history);
    for (const { agentId } of agents) expect(text.split(`<task-id>${agentId}</task-id>`)).toHaveLength(2);
    expectOnce(readEffects(folder.path));
    expectNumbered(bus.events);
    bus.leave();
  },
  60_000,
);

async function killAfter(
  folder: string,
  { afterEvents, isAnswered }: { afterEvents: number; isAnswered: boolean },
): Promise<void> {
  const program = new URL("../testing/killed-process.ts", import.meta.url).pathname;
  const parameters = [
    "--conditions=@trivium/source",
    "--disable-warning=ExperimentalWarning",
    program,
    folder,
  ];
  const child = spawn(process.execPath, [...parameters, ...(isAnswered ? ["answer"] : [])], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  onTestFinished(() => void child.kill("SIGKILL"));
  const exited = once(child, "exit");
  let count = 0;
  for await (const line of createInterface({ input: child.stdout })) {
    if (line === "over" || ++count >= afterEvents) child.kill("SIGKILL");
  }
  await exited;
}

/** Every call has its result in the message behind it, in the same order, and nothing else has one. */
function expectPairs(history: readonly Message[]): void {
  const blocks = history.map(({ content }) => content);
  for (const [index, content] of blocks.entries()) {
    const calls = content.flatMap((block) => (block.type === "tool_use" ? [block.id] : []));
    const results = (blocks[index + 1] ?? []).flatMap((block) =>
      block.type === "tool_result" ? [block.tool_use_id] : [],
    );
    expect(results).toEqual(calls);
  }
}

function expectOnce(effects: readonly string[]): void {
  expect(effects.toSorted()).toEqual([...new Set(effects)].toSorted());
}

function expectNumbered(events: readonly Payload[]): void {
  const numbers = events
    .filter(({ type, replayed }) => !type.startsWith("server.") && replayed !== true)
    .flatMap(({ seq, seq_from: from }) =>
      typeof seq === "number" ? range(typeof from === "number" ? from : seq, seq) : [],
    );
  expect(numbers).toEqual(range(1, numbers.length));
}

function range(first: number, last: number): number[] {
  return Array.from({ length: last - first + 1 }, (_, index) => first + index);
}

function readEffects(folder: string): string[] {
  try {
    return readFileSync(join(folder, "effects"), "utf8").split("\n").filter(Boolean);
  } catch {
    // Killed before it ran anything.
    return [];
  }
}

function closing(store: SqliteEventLogStore): AsyncDisposable & { readonly store: SqliteEventLogStore } {
  return { store, [Symbol.asyncDispose]: () => store.close() };
}
