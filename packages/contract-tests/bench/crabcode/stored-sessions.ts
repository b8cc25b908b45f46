import { temporaryFolder } from "@trivium/core/testing";
import { CrabcodeClient } from "@trivium/crabcode-client";
import { createNodeTransport } from "@trivium/rpc/node";
import { startServerProcess } from "../../src/server/server-process.ts";
import { median, report, timeOf } from "../grok-tools/measure.ts";

const SESSIONS = 1000;
const STARTS = 3;

/** The start of a server with a thousand stored sessions, and a page of their list. */
export async function benchStoredSessions(): Promise<void> {
  await using folder = await temporaryFolder();
  const dataDir = `${folder.path}/data`;
  {
    await using server = await startServerProcess({ dataDir });
    await using transport = createNodeTransport({ baseUrl: server.url });
    const client = new CrabcodeClient(transport);
    for (let index = 0; index < SESSIONS; index++) {
      const { sessionId } = await client.sessions.create({ title: `session ${index}` });
      await client.send("hello", { sessionId }).result();
      await client.sessions.close(sessionId);
    }
  }
  const starts: number[] = [];
  const pages: number[] = [];
  for (let round = 0; round < STARTS; round++) {
    const start = performance.now();
    await using server = await startServerProcess({ dataDir });
    await using transport = createNodeTransport({ baseUrl: server.url });
    const client = new CrabcodeClient(transport);
    await client.health();
    starts.push(performance.now() - start);
    await client.sessions.list();
    for (let page = 0; page < 20; page++) pages.push(await timeOf(() => client.sessions.list()));
  }
  const which = process.env["TRIVIUM_TEST_BUILT"] === "1" ? "built" : "from the sources";
  report(`start to HealthCheck with ${SESSIONS} stored sessions`, median(starts), {
    limit: 1000,
    unit: "ms",
    note: which,
  });
  report("a page of their list", median(pages), { limit: 20, unit: "ms" });
}
