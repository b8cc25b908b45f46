import { median, timeOf } from "../grok-tools/measure.ts";
import type { GrpcConnection } from "./grpc-connection.ts";
import { BenchSession } from "./session.ts";

/** A figure that is taken again and again from a running host, in turns with the other host. */
export interface TimeFigure {
  readonly name: string;
  readonly unit: "ms" | "cells/s";
  readonly rounds: number;
  /** What ours may be of the original's, at most; of `cells/s` at least. */
  readonly goal?: number;
  /** What ours may be by itself, at most. */
  readonly limit?: number;
  measure(bench: Bench): Promise<number>;
}

/** The sessions that figures use on one host. */
export interface Bench {
  readonly connection: GrpcConnection;
  readonly plain: BenchSession;
  /** Its tool calls are answered with `1`. */
  readonly small: BenchSession;
  /** Its tool calls are answered with a string of 10 MiB. */
  readonly large: BenchSession;
  readonly many: readonly BenchSession[];
}

const LARGE_BYTES = 10 * 1024 * 1024;
const CELLS_PER_ROUND = 50;
const CELLS_OF_MANY = 480;
const CALLS = 1000;

/** Opens what the figures use. */
export async function openBench(connection: GrpcConnection): Promise<Bench> {
  const open = (): Promise<BenchSession> => BenchSession.open(connection);
  const [plain, small, large] = await Promise.all([open(), open(), open()]);
  small.answerCalls(Buffer.from("1"));
  large.answerCalls(Buffer.from(`"${"x".repeat(LARGE_BYTES)}"`));
  return { connection, plain, small, large, many: await Promise.all(Array.from({ length: 16 }, open)) };
}

const kernels: Readonly<Record<string, string>> = {
  "fib(32)": "const fib = (n) => (n < 2 ? n : fib(n - 1) + fib(n - 2)); text(fib(32));",
  "loop of 2·10^8": "let s = 0; for (let i = 0; i < 2e8; i++) s = (s + i * 3) | 0; text(s);",
  "JSON of 200 000 objects":
    'const a = Array.from({ length: 200000 }, (_, i) => ({ i, s: "k" + i })); text(JSON.parse(JSON.stringify(a)).length);',
  "sort of 10^6 numbers":
    "let x = 1; const a = new Float64Array(1e6).map(() => (x = (x * 1103515245 + 12345) % 2147483648)); a.sort(); text(a[0]);",
  "200 000 regular expressions":
    'let n = 0; for (let i = 0; i < 200000; i++) if (/(\\d+)-(\\w+)/.exec("abc " + i + "-foo")) n++; text(n);',
};

/** Everything that is timed on a running host. */
export const timeFigures: readonly TimeFigure[] = [
  {
    name: 'text("hi"), one session',
    unit: "ms",
    rounds: 20,
    goal: 0.75,
    measure: async ({ plain }) => median(await repeat(CELLS_PER_ROUND, () => plain.run('text("hi")'))),
  },
  {
    name: 'text("hi"), 16 sessions at once',
    unit: "cells/s",
    rounds: 8,
    goal: 1,
    async measure({ many }) {
      let started = 0;
      const wallMs = await timeOf(() =>
        Promise.all(
          many.map(async (session) => {
            while (started++ < CELLS_OF_MANY) await session.run('text("hi")');
          }),
        ),
      );
      return (CELLS_OF_MANY / wallMs) * 1000;
    },
  },
  program("1000 tool calls one after the other", {
    goal: 1.5,
    session: "small",
    source: `for (let i = 0; i < ${CALLS}; i++) await tools.echo({ i });`,
  }),
  program("1000 tool calls at once", {
    goal: 2,
    session: "small",
    source: `await Promise.all(Array.from({ length: ${CALLS} }, (_, i) => tools.echo({ i })));`,
  }),
  program("tool result of 10 MiB", {
    goal: 1,
    session: "large",
    source: "text((await tools.echo(1)).length);",
  }),
  program("text of 10 MiB", { goal: 1.2, session: "plain", source: `text("x".repeat(${LARGE_BYTES}));` }),
  ...Object.entries(kernels).map(([name, source]) => program(name, { goal: 1.15, session: "plain", source })),
  {
    name: "Terminate of while (true)",
    unit: "ms",
    rounds: 15,
    limit: 5,
    async measure({ plain }) {
      const { cellId } = await plain.run("while (true) {}", 20n);
      return timeOf(() => plain.terminate(cellId));
    },
  },
  {
    name: "yield at 100 ms, too late by",
    unit: "ms",
    rounds: 15,
    limit: 4,
    async measure({ plain }) {
      let cellId = "";
      const wallMs = await timeOf(async () => {
        ({ cellId } = await plain.run("await new Promise(() => {});", 100n));
      });
      await plain.terminate(cellId);
      return wallMs - 100;
    },
  },
  {
    name: "setTimeout of 50 ms, too late by",
    unit: "ms",
    rounds: 15,
    limit: 5,
    measure: async ({ plain }) =>
      (await timeOf(() => plain.run("await new Promise((resolve) => setTimeout(resolve, 50));"))) - 50,
  },
  {
    name: "OpenSession to opened",
    unit: "ms",
    rounds: 200,
    limit: 1,
    async measure({ connection }) {
      let session: BenchSession | undefined;
      const wallMs = await timeOf(async () => {
        session = await BenchSession.open(connection);
      });
      session?.close();
      return wallMs;
    },
  },
];

function program(
  name: string,
  { goal, session, source }: { goal: number; session: "plain" | "small" | "large"; source: string },
): TimeFigure {
  return { name, unit: "ms", rounds: 8, goal, measure: (bench) => timeOf(() => bench[session].run(source)) };
}

async function repeat(count: number, run: () => Promise<unknown>): Promise<number[]> {
  const values: number[] = [];
  for (let index = 0; index < count; index++) values.push(await timeOf(run));
  return values;
}
