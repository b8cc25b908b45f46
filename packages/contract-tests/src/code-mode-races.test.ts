import { type CellOutcome, CodeModeSession } from "@trivium/code-mode-client";
import { createNodeTransport, type NodeTransport } from "@trivium/rpc/node";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type CodeModeServer, startCodeModeServer } from "./code-mode/code-mode-server.ts";

/** `TRIVIUM_RACES=1000` for a thorough run. */
const WANTED = Number(process.env["TRIVIUM_RACES"] ?? 64);
const SESSIONS = 8;
const ROUNDS = Math.ceil(WANTED / SESSIONS);
const REPETITIONS = ROUNDS * SESSIONS;
const TIMEOUT_MS = 60_000 + REPETITIONS * 500;

let server: CodeModeServer;
let transport: NodeTransport;
beforeAll(async () => {
  server = await startCodeModeServer();
  transport = createNodeTransport({ baseUrl: server.url, protocol: "grpc", httpVersion: "2" });
});
afterAll(async () => {
  await transport[Symbol.asyncDispose]();
  await server[Symbol.asyncDispose]();
});

/** Emits 0 to 3, with the tool `gate` in the middle, which the test answers when it likes. */
const source = "text(0); text(1); await tools.gate(); text(2); text(3)";
const all = ["0", "1", "2", "3"];

interface Race {
  readonly session: CodeModeSession;
  readonly cellId: string;
  /** Items delivered so far. */
  readonly items: string[];
  /** Lets the program go on to its end. */
  readonly open: () => void;
}

/** Runs one race after the other in several sessions at a time. */
async function repeat(race: (race: Race) => Promise<void>): Promise<void> {
  const worker = async (): Promise<void> => {
    let gate = Promise.withResolvers<void>();
    let reached = Promise.withResolvers<void>();
    await using session = await CodeModeSession.open(transport, { outputTruncation: "off" });
    await session.serveTools({
      async gate() {
        reached.resolve();
        await gate.promise;
      },
    });
    for (let round = 0; round < ROUNDS; round++) {
      gate = Promise.withResolvers<void>();
      reached = Promise.withResolvers<void>();
      const first = await session.execute(source, { yieldTimeMs: 1 });
      await reached.promise;
      const open = gate.resolve;
      await race({ session, cellId: first.cellId, items: textsOf(first), open });
      open();
    }
  };
  await Promise.all(Array.from({ length: SESSIONS }, worker));
}

function textsOf({ items }: CellOutcome): string[] {
  return items.map((item) => (item.type === "text" ? item.text : item.type));
}

/** Looks at the cell until it is gone. */
async function drain({ session, cellId, items }: Race): Promise<CellOutcome["state"]> {
  for (;;) {
    const { state, outcome } = await session.wait(cellId);
    if (state === "missing") throw new Error(`the result of cell ${cellId} was lost`);
    items.push(...textsOf(outcome));
    if (outcome.state !== "yielded") return outcome.state;
  }
}

describe("no item is lost or doubled", () => {
  it(
    "when the end of a program meets the end of a wait's time",
    async () => {
      await repeat(async (race) => {
        const { session, cellId, items, open } = race;
        const wait = session.wait(cellId, { yieldTimeMs: 1 });
        open();
        const { outcome } = await wait;
        items.push(...textsOf(outcome));
        if (outcome.state === "yielded") expect(await drain(race)).toBe("completed");
        expect(items).toEqual(all);
      });
    },
    TIMEOUT_MS,
  );

  it(
    "when the end of a program meets the request to yield",
    async () => {
      await repeat(async (race) => {
        const { session, cellId, items, open } = race;
        const wait = session.wait(cellId);
        open();
        await session.yieldObservation(cellId);
        const { outcome } = await wait;
        items.push(...textsOf(outcome));
        if (outcome.state === "yielded") expect(await drain(race)).toBe("completed");
        expect(items).toEqual(all);
      });
    },
    TIMEOUT_MS,
  );

  it(
    "when the end of a program meets a wait that is given up",
    async () => {
      await repeat(async (race) => {
        const { session, cellId, items, open } = race;
        const controller = new AbortController();
        const wait = session.wait(cellId, { signal: controller.signal });
        open();
        controller.abort();
        const delivered = await wait.catch(() => undefined);
        if (delivered === undefined) expect(await drain(race)).toBe("completed");
        else items.push(...textsOf(delivered.outcome));
        expect(items).toEqual(all);
      });
    },
    TIMEOUT_MS,
  );

  it(
    "when the end of a program meets its termination",
    async () => {
      await repeat(async ({ session, cellId, items, open }) => {
        const wait = session.wait(cellId);
        open();
        const terminated = await session.terminate(cellId);
        const { outcome } = await wait;
        items.push(...textsOf(outcome));
        // Both got the same, unless the observer had it all before.
        if (terminated.state === "live") expect(textsOf(terminated.outcome)).toEqual(textsOf(outcome));
        else expect(outcome.state).toBe("completed");
        expect(items).toEqual(outcome.state === "completed" ? all : all.slice(0, items.length));
        expect((await session.wait(cellId)).state).toBe("missing");
      });
    },
    TIMEOUT_MS,
  );

  it(
    "when the answer to a tool meets the termination of its program",
    async () => {
      await repeat(async ({ session, cellId, items, open }) => {
        open();
        const { state, outcome } = await session.terminate(cellId);
        expect(state).toBe("live");
        items.push(...textsOf(outcome));
        expect(items).toEqual(all.slice(0, items.length));
        expect((await session.wait(cellId)).state).toBe("missing");
      });
    },
    TIMEOUT_MS,
  );

  it(
    "when a program that completes is given up by its client",
    async () => {
      const counts = { delivered: 0, dropped: 0 };
      const worker = async (): Promise<void> => {
        const closed = new Map<string, number>();
        const started: string[] = [];
        await using session = await CodeModeSession.open(transport, {
          onCellClosed: (cellId) => closed.set(cellId, (closed.get(cellId) ?? 0) + 1),
        });
        for (let round = 0; round < ROUNDS; round++) {
          const controller = new AbortController();
          const { signal } = controller;
          const onStarted = (cellId: string): void => {
            started.push(cellId);
            setImmediate(() => controller.abort());
          };
          const outcome = await session.execute("text(1)", { signal, onStarted }).catch(() => undefined);
          counts[outcome === undefined ? "dropped" : "delivered"]++;
          if (outcome !== undefined) expect(textsOf(outcome)).toEqual(["1"]);
        }
        const { cellId } = await session.execute("text(2)");
        expect([...closed]).toEqual([...started, cellId].map((id) => [id, 1]));
      };
      await Promise.all(Array.from({ length: SESSIONS }, worker));
      expect(counts.delivered + counts.dropped).toBe(REPETITIONS);
    },
    TIMEOUT_MS,
  );
});
