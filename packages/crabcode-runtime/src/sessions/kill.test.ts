import { spawn } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { SqliteEventLogStore } from "@trivium/core/node";
import { temporaryFolder } from "@trivium/core/testing";
import { expect, it, onTestFinished } from "vitest";
import { createCrabcodeRuntime } from "../create-crabcode-runtime.ts";
import { MemoryToolbox } from "../testing/memory-toolbox.ts";
import { Reader } from "../testing/runtime-fixture.ts";
import { ScriptedModels } from "../testing/scripted-models.ts";

it("takes over the data folder of a process that was killed, with everything that was delivered", async () => {
  await using folder = await temporaryFolder();
  const program = new URL("../testing/crashing-process.ts", import.meta.url).pathname;
  const child = spawn(process.execPath, ["--conditions=@trivium/source", program, folder.path], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  onTestFinished(() => void child.kill("SIGKILL"));
  const open = () =>
    createCrabcodeRuntime({
      dataDir: folder.path,
      eventLogs,
      models: new ScriptedModels(),
      openToolbox: new MemoryToolbox().open,
      workspaceRoots: [folder.path],
    });
  await once(child.stdout, "data");
  const eventLogs = new SqliteEventLogStore({ path: join(folder.path, "events.sqlite") });
  expect(open).toThrow(`in use by process ${child.pid}`);
  child.kill("SIGKILL");
  await once(child, "exit");
  const runtime = open();
  const { sessionId } = await runtime.listModels("");
  const abort = new AbortController();
  const { events } = await runtime.subscribe({ session: { sessionId }, afterSeq: "0", signal: abort.signal });
  const bus = new Reader(events, abort);
  await bus.find({ type: "turn_complete", reason: "interrupted" });
  expect(bus.events.map(({ type, seq }) => [type, seq])).toEqual([
    ["server.connected", undefined],
    ["stream_mode", 1],
    ["stream_mode", 2],
    ["stream_text", 3],
    ["turn_complete", 4],
  ]);
  bus.leave();
  await runtime.close();
  await eventLogs.close();
});
