import { CrabcodeClient } from "@trivium/crabcode-client";
import { createNodeTransport } from "@trivium/rpc/node";
import { startServerProcess } from "../../src/server/server-process.ts";
import { report, residentMiB } from "../grok-tools/measure.ts";

const SESSIONS = 500;

/** Five hundred sessions that are loaded and do nothing. */
export async function benchIdleSessions(): Promise<void> {
  await using server = await startServerProcess();
  await using transport = createNodeTransport({ baseUrl: server.url });
  const client = new CrabcodeClient(transport);
  const empty = residentMiB(server.pid);
  for (let index = 0; index < SESSIONS; index++) {
    const { sessionId } = await client.sessions.create();
    await client.send("hello", { sessionId }).result();
  }
  const now = residentMiB(server.pid);
  report(`${SESSIONS} idle sessions`, now, {
    limit: 300,
    unit: "MiB resident",
    note: `${empty.toFixed(0)} MiB before them`,
  });
}
