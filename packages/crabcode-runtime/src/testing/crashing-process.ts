import { join } from "node:path";
import { SqliteEventLogStore } from "@trivium/core/node";
import { createCrabcodeRuntime } from "../create-crabcode-runtime.ts";
import { MemoryToolbox } from "./memory-toolbox.ts";
import { ScriptedModels } from "./scripted-models.ts";

/** Runs a turn that never ends in the folder of its first argument, and says when something was streamed. */
const [, , folder = ""] = process.argv;
const runtime = createCrabcodeRuntime({
  dataDir: folder,
  eventLogs: new SqliteEventLogStore({ path: join(folder, "events.sqlite") }),
  models: new ScriptedModels([{ text: ["one ", "two"], hold: "never", hold_after_chunks: 1 }]),
  openToolbox: new MemoryToolbox().open,
  workspaceRoots: [folder],
});
const { events } = await runtime.sendMessage({ session: { sessionId: "" }, text: "x" });
// The gate alone keeps no process alive.
setInterval(() => {}, 60_000);
for await (const { type } of events) if (type === "stream_text") process.stdout.write("streaming\n");
