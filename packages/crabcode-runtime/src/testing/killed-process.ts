import { appendFileSync } from "node:fs";
import { join } from "node:path";
import { SqliteEventLogStore } from "@trivium/core/node";
import { createCrabcodeRuntime } from "../create-crabcode-runtime.ts";
import { MemoryToolbox } from "./memory-toolbox.ts";
import { type ScriptEntry, ScriptedModels } from "./scripted-models.ts";

/**
 * Runs turns with tools, a question and agents in the folder of its first argument. It prints the type of each event,
 * and `over` when nothing more will happen by itself; it writes down each command it runs. A second argument answers the
 * questions.
 */
const [, , folder = "", answers] = process.argv;

const bash = (id: string, command: string): NonNullable<ScriptEntry["tool_calls"]>[number] => ({
  id,
  name: "Bash",
  input: { command },
});
const spawnAgent = (id: string): NonNullable<ScriptEntry["tool_calls"]>[number] => ({
  id,
  name: "AgentSpawn",
  input: { prompt: "count", callback: true },
});
const turn: readonly ScriptEntry[] = [
  { agent: null, text: ["think", "ing"], tool_calls: [bash("m1", "effect m1"), bash("m2", "effect m2")] },
  { agent: null, tool_calls: [spawnAgent("s1"), spawnAgent("s2")] },
  { agent: null, tool_calls: [bash("m3", "ask m3"), bash("m4", "effect m4")] },
  { agent: null, text: ["do", "ne"] },
  { agent: null, text: ["no", "ted"] },
  { agent: null, text: ["no", "ted again"] },
  ...[1, 2].flatMap((agent) => [
    { agent, tool_calls: [bash(`a${agent}`, `effect a${agent}`)] },
    { agent, text: ["count", "ed"] },
  ]),
];

const toolbox = new MemoryToolbox();
toolbox.onCommand = ({ command }) => {
  appendFileSync(join(folder, "effects"), `${command}\n`);
  return Promise.resolve({ stdout: "ran\n" });
};
const runtime = createCrabcodeRuntime({
  dataDir: folder,
  eventLogs: new SqliteEventLogStore({ path: join(folder, "events.sqlite") }),
  models: new ScriptedModels(turn),
  openToolbox: toolbox.open,
  workspaceRoots: [folder],
  settings: {
    base: { permissions: { allow: [{ tool: "Bash", command: "effect *" }, { tool: "AgentSpawn" }] } },
  },
});
const { sessionId } = await runtime.listModels("");
const { events } = await runtime.subscribe({ session: { sessionId }, afterSeq: "0" });
// It is killed; that nothing happens any more does not end it.
setInterval(() => {}, 60_000);
void runtime.sendMessage({ session: { sessionId }, text: "x", isDetached: true });
let isAsking = false;
for await (const { type, payloadJson } of events) {
  process.stdout.write(`${type}\n`);
  if (type === "permission_request") {
    isAsking = answers === undefined;
    const { tool_use_id: toolUseId } = JSON.parse(payloadJson) as { tool_use_id: string };
    if (!isAsking) await runtime.respondPermission({ sessionId, toolUseId, isAllowed: true });
  }
  const { agents } = await runtime.listAgents(sessionId);
  const isOver = agents.every(({ callbackState, finishedAt }) =>
    isAsking ? finishedAt !== undefined : callbackState === "delivered",
  );
  if (isOver && agents.length > 0) process.stdout.write("over\n");
}
