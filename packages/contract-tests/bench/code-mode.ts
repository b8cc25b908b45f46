/**
 * `pnpm bench`: the code-mode host over gRPC, in time and in memory.
 *
 * Beside the original when `CODEX_HOST_BINARY` names its binary, or when `--fetch-original` is given, which fetches its
 * npm package for this run. The hosts take turns; each value is a median. `start`, `memory`, `soak`, `hostile` and `time`
 * choose parts (default: all but `hostile`, which takes the original down); `--quick` takes a quarter of the rounds. What
 * goes on is told on standard error, figures on standard output.
 */
import { cpus } from "node:os";
import { GrpcConnection } from "./code-mode/grpc-connection.ts";
import { measureHostile } from "./code-mode/hostile-figures.ts";
import { fetchOriginal, type HostKind, original, ours } from "./code-mode/hosts.ts";
import { measureMemory, measureStart, type Values } from "./code-mode/memory-figures.ts";
import { measureSoak } from "./code-mode/soak-figures.ts";
import { tableHead, tableLine } from "./code-mode/table.ts";
import { type Bench, openBench, type TimeFigure, timeFigures } from "./code-mode/time-figures.ts";
import { loadText, median } from "./grok-tools/measure.ts";

const STARTS = 5;
const goals: Readonly<Record<string, string>> = {
  "start of the process to listening, ms": "≤ 250",
  "first cell of those, ms": "≤ 5",
  "PSS idle, MiB": "≤ 120",
  "PSS per open session, KiB": "≤ 64",
  "PSS per live cell, MiB": "≤ 1.5",
  "time until it is within 20 % of before, s": "≤ 75",
};

const wanted = process.argv.slice(2).filter((parameter) => !parameter.startsWith("--"));
const binary = process.env["CODEX_HOST_BINARY"];
await using fetched =
  binary === undefined && process.argv.includes("--fetch-original") ? await fetchOriginal() : undefined;
const originalBinary = binary ?? fetched?.binary;
const kinds: readonly HostKind[] = originalBinary === undefined ? [ours] : [ours, original(originalBinary)];

const share = process.argv.includes("--quick") ? 0.25 : 1;

const [cpu] = cpus();
console.log(
  `${new Date().toISOString().slice(0, 10)}, ${cpus().length} × ${cpu?.model ?? "?"}, ${loadText()}\n`,
);
console.log(tableHead());
if (isWanted("start")) await printValues("start", measureStart, Math.ceil(STARTS * share));
if (isWanted("memory")) await printValues("memory", measureMemory, 1);
if (isWanted("soak")) await printValues("soak", measureSoak, 1);
if (wanted.includes("hostile")) await printValues("hostile", measureHostile, 1);
if (isWanted("time")) await printTimes();
console.log(`\n${loadText()} at the end`);
// Connections stay open.
process.exit();

function isWanted(part: string): boolean {
  return wanted.length === 0 || wanted.includes(part);
}

/** Figures of fresh processes. */
async function printValues(
  part: string,
  measure: (kind: HostKind) => Promise<Values>,
  runs: number,
): Promise<void> {
  const taken = kinds.map((): Values[] => []);
  for (let run = 0; run < runs; run++) {
    for (const [index, kind] of kinds.entries()) {
      console.error(`${part} of ${kind.name}, ${run + 1} of ${runs}`);
      taken[index]?.push(await measure(kind));
    }
  }
  for (const figure of Object.keys(taken[0]?.[0] ?? {})) {
    const usual = part === "hostile" && figure.includes("p99") ? "≤ 50" : "";
    print({ figure, values: valuesOf(taken, figure), goal: goals[figure] ?? usual });
  }
}

function valuesOf(taken: readonly Values[][], figure: string): number[] {
  return taken.map((values) => median(values.map((one) => one[figure] ?? Number.NaN)));
}

/** Figures of running hosts. */
async function printTimes(): Promise<void> {
  await using hosts = new AsyncDisposableStack();
  const benches: Bench[] = [];
  for (const kind of kinds) {
    const host = hosts.use(await kind.start());
    benches.push(await openBench(hosts.use(new GrpcConnection(host.url))));
  }
  for (const figure of timeFigures) {
    console.error(`time of ${figure.name}`);
    const taken = benches.map((): number[] => []);
    // The first round is not counted.
    for (let round = -1; round < Math.ceil(figure.rounds * share); round++) {
      for (const [index, bench] of benches.entries()) {
        const value = await figure.measure(bench);
        if (round >= 0) taken[index]?.push(value);
      }
    }
    print({ figure: `${figure.name}, ${figure.unit}`, values: taken.map(median), goal: goalOf(figure) });
  }
}

interface Measured {
  readonly figure: string;
  /** Ours, then the original's. */
  readonly values: readonly number[];
  readonly goal: string;
}

function goalOf({ unit, goal, limit }: TimeFigure): string {
  if (limit !== undefined) return `≤ ${limit} ms`;
  if (goal === undefined) return "";
  return unit === "ms" ? `≤ ${goal} ×` : `≥ ${goal} ×`;
}

function print({ figure, values: [own = Number.NaN, theirs], goal }: Measured): void {
  console.log(tableLine({ figure, ours: own, original: theirs, goal }));
}
