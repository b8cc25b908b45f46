import { readFileSync } from "node:fs";
import { CodeModeSession } from "@trivium/code-mode-client";
import { createNodeTransport, type NodeTransport } from "@trivium/rpc/node";
import { afterAll, beforeAll, expect, it } from "vitest";
import { type CodeModeServer, startCodeModeServer } from "./code-mode/code-mode-server.ts";
import { descendantsOf } from "./server/process-tree.ts";

/** `TRIVIUM_SOAK_CELLS=10000` for a thorough run. */
const CELLS = Number(process.env["TRIVIUM_SOAK_CELLS"] ?? 100);
const SESSIONS = 50;
const AT_ONCE = 10;
const CELLS_OF_SESSION = Math.ceil(CELLS / SESSIONS);
const TIMEOUT_MS = 60_000 + CELLS * 50;
/** How long a busy machine may take to tidy up. */
const patience = { timeout: 20_000 };
/** What a pool may have more of after work than before; one for each session or cell would be more. */
const SLACK = SESSIONS - 1;

let server: CodeModeServer;
let transport: NodeTransport;
beforeAll(async () => {
  server = await startCodeModeServer();
  transport = createNodeTransport({ baseUrl: server.url });
});
afterAll(async () => {
  await transport[Symbol.asyncDispose]();
  await server[Symbol.asyncDispose]();
});

/** Uses a timer, a tool, a notification, the store and a wait, and leaves a timer behind. */
const source = `
  await tools.echo(1); notify("n"); store("k", load("k") ?? 0);
  setTimeout(() => {}, 3_600_000);
  await new Promise((done) => setTimeout(done, 0));
  text("done");
`;

async function useSession(cells: number): Promise<void> {
  await using session = await CodeModeSession.open(transport, { onNotification: () => {} });
  await session.serveTools({ echo: (input) => input });
  for (let index = 0; index < cells; index++) {
    const { items } = await session.execute(source);
    expect(items).toMatchObject([{ text: "done" }]);
  }
}

function timers(): number {
  return process.getActiveResourcesInfo().filter((resource) => resource === "Timeout").length;
}

function threadsOfWorkers(): number {
  return descendantsOf(process.pid).reduce((sum, pid) => sum + threadsOf(pid), 0);
}

function threadsOf(pid: number): number {
  try {
    return Number(/^Threads:\s+(\d+)/m.exec(readFileSync(`/proc/${pid}/status`, "utf8"))?.[1] ?? 0);
  } catch {
    // It has ended meanwhile.
    return 0;
  }
}

it(
  `${CELLS} cells of ${SESSIONS} sessions leave no session, cell, timer or thread`,
  async () => {
    await Promise.all(Array.from({ length: AT_ONCE }, () => useSession(2)));
    const before = { timers: timers(), threads: threadsOfWorkers() };
    for (let round = 0; round < SESSIONS / AT_ONCE; round++) {
      await Promise.all(Array.from({ length: AT_ONCE }, () => useSession(CELLS_OF_SESSION)));
    }
    await expect.poll(() => server.stats(), patience).toMatchObject({ sessions: 0, openCells: 0 });
    await expect.poll(timers, patience).toBeLessThanOrEqual(before.timers + SLACK);
    await expect.poll(threadsOfWorkers, patience).toBeLessThanOrEqual(before.threads + SLACK);
  },
  TIMEOUT_MS,
);
