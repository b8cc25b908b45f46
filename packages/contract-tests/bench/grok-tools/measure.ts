import { readFileSync } from "node:fs";
import { loadavg } from "node:os";
import { descendantsOf } from "../../src/server/process-tree.ts";

/** Wall times of one side in milliseconds, and the CPU time that one call costs on average. */
export interface Samples {
  readonly wallMs: number[];
  cpuMs: number;
}

/** One side of a comparison. */
export interface Side {
  readonly run: () => Promise<unknown>;
  /** CPU time in milliseconds that this side has used so far. */
  readonly cpuMs: () => number;
}

/** Calls of one side before the other has its turn: long enough for the kernel's clock of 10 ms. */
const BLOCK = 20;

/** Runs the sides in turns, so that a busy machine is the same for all of them. The first block of each is not counted. */
export async function alternate<Name extends string>(
  sides: Readonly<Record<Name, Side>>,
  { blocks, block = BLOCK }: { blocks: number; block?: number },
): Promise<Record<Name, Samples>> {
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- every name of the record is filled below
  const result = {} as Record<Name, Samples>;
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the keys of the record
  const names = Object.keys(sides) as Name[];
  for (const name of names) result[name] = { wallMs: [], cpuMs: 0 };
  for (let round = -1; round < blocks; round++) {
    for (const name of names) {
      const { run, cpuMs } = sides[name];
      const before = cpuMs();
      const wallMs: number[] = [];
      for (let index = 0; index < block; index++) wallMs.push(await timeOf(run));
      if (round < 0) continue;
      result[name].wallMs.push(...wallMs);
      result[name].cpuMs += (cpuMs() - before) / (blocks * block);
    }
  }
  return result;
}

/** Milliseconds of one run. */
export async function timeOf(run: () => Promise<unknown>): Promise<number> {
  const start = performance.now();
  await run();
  return performance.now() - start;
}

export function quantile(values: readonly number[], share: number): number {
  const sorted = values.toSorted((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? Number.NaN;
}

export function median(values: readonly number[]): number {
  return quantile(values, 0.5);
}

/** CPU time of a process, of all that live below it, and of all that it has reaped. */
export function treeCpuMs(pid: number): number {
  return [pid, ...descendantsOf(pid)].reduce((sum, one) => sum + processCpuMs(one), 0);
}

/** CPU time of a process and of its children that have ended. */
export function processCpuMs(pid: number): number {
  // Behind the name: state is field 3; utime, stime, cutime and cstime are 14 to 17, in ticks of 10 ms.
  const fields = readProc(pid, "stat")
    .replace(/^.*\) /s, "")
    .split(" ");
  return fields.slice(11, 15).reduce((sum, ticks) => sum + Number(ticks) * 10, 0);
}

/** Resident memory of a process in MiB; `peak`: the most since {@link resetPeak}. */
export function residentMiB(pid: number, which: "now" | "peak" = "now"): number {
  const line = new RegExp(`^${which === "now" ? "VmRSS" : "VmHWM"}:\\s+(\\d+)`, "m");
  return Number(line.exec(readProc(pid, "status"))?.[1] ?? Number.NaN) / 1024;
}

/** The load of the machine while this ran, for whoever reads the figures. */
export function loadText(): string {
  return `load ${loadavg()
    .map((value) => value.toFixed(1))
    .join(" ")}`;
}

/** One line about a figure and the bound it is to keep. */
export function report(
  title: string,
  value: number,
  { limit, unit, atLeast = false, note = "" }: Bound,
): void {
  const isKept = atLeast ? value >= limit : value <= limit;
  const bound = `${atLeast ? "at least" : "at most"} ${limit} ${unit}`;
  console.log(
    `${isKept ? "kept  " : "MISSED"} ${title}: ${value.toFixed(2)} ${unit} (${bound})${note && `; ${note}`}`,
  );
}

/** What a figure is compared with. */
export interface Bound {
  readonly limit: number;
  readonly unit: string;
  /** The value may not be less, instead of not more. */
  readonly atLeast?: boolean;
  readonly note?: string;
}

function readProc(pid: number, file: string): string {
  try {
    return readFileSync(`/proc/${pid}/${file}`, "utf8");
  } catch {
    // It ended meanwhile.
    return "";
  }
}
