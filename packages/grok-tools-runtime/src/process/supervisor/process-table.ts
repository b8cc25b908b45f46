import { readdirSync, readFileSync, statSync } from "node:fs";
import type { ProcessName } from "./message.ts";

/** One line of the kernel's process table. */
export interface ProcessStat {
  readonly pid: number;
  /** One letter; `Z` is an ended process that nobody has reaped, `D` one that cannot be interrupted. */
  readonly state: string;
  readonly parentPid: number;
  readonly groupId: number;
  readonly sessionId: number;
  /** Clock ticks after boot. Together with the pid it names a process for ever. */
  readonly startTicks: number;
}

/** Reads one process; undefined when it is gone or there is no `/proc`. */
export function readProcessStat(pid: number): ProcessStat | undefined {
  const text = readText(`/proc/${pid}/stat`);
  if (text === undefined) return undefined;
  // The name stands in parentheses and may hold anything, so count from its end.
  const fields = text.slice(text.lastIndexOf(")") + 2).split(" ");
  const [state = "", parent = "", group = "", session = ""] = fields;
  return {
    pid,
    state,
    parentPid: Number(parent),
    groupId: Number(group),
    sessionId: Number(session),
    startTicks: Number(fields[19]),
  };
}

/** True while this very process is there and has not ended. */
export function isRunning({ pid, startTicks }: ProcessName): boolean {
  const stat = readProcessStat(pid);
  return stat !== undefined && stat.state !== "Z" && stat.startTicks === startTicks;
}

/** Every process of the machine that this process can see. Empty without `/proc`. */
export function listProcesses(): ProcessStat[] {
  let names: string[];
  try {
    names = readdirSync("/proc");
  } catch {
    // No /proc on this system.
    return [];
  }
  return names
    .filter((name) => /^\d+$/.test(name))
    .map((name) => readProcessStat(Number(name)))
    .filter((stat) => stat !== undefined);
}

/** Everything below `root`, parents before children, ended processes included. */
export function descendantsOf(root: number): number[] {
  return hasChildrenFiles() ? descendantsByFiles(root) : descendantsByStat(root);
}

/** The direct children of `root`, ended ones included. */
export function childrenOf(root: number): number[] {
  if (!hasChildrenFiles()) {
    return listProcesses()
      .filter((stat) => stat.parentPid === root)
      .map((stat) => stat.pid);
  }
  let threads: string[];
  try {
    threads = readdirSync(`/proc/${root}/task`);
  } catch {
    // Gone meanwhile.
    return [];
  }
  return threads.flatMap((thread) =>
    (readText(`/proc/${root}/task/${thread}/children`) ?? "").split(" ").filter(Boolean).map(Number),
  );
}

/** At most 200 bytes of the command line, or the name in brackets when there is none. */
export function commandLineOf(pid: number): string {
  const line = (readText(`/proc/${pid}/cmdline`) ?? "").replaceAll("\0", " ").trim();
  if (line !== "") return Buffer.from(line).subarray(0, 200).toString().replace(/�$/, "");
  return `[${nameOf(pid)}]`;
}

/** What the kernel calls a process: at most 15 bytes of its program's name. Empty when it is gone. */
export function nameOf(pid: number): string {
  return (readText(`/proc/${pid}/comm`) ?? "").trim();
}

/** True when the environment a process was started with holds `entry` (`NAME=value`). False when it cannot be read. */
export function hasEnvironmentEntry(pid: number, entry: string): boolean {
  const environment = readText(`/proc/${pid}/environ`);
  return environment !== undefined && `\0${environment}\0`.includes(`\0${entry}\0`);
}

/** True when a process holds a descriptor of this pipe. False when its descriptors cannot be read. */
export function holdsPipe(pid: number, pipe: { readonly dev: number; readonly ino: number }): boolean {
  try {
    return readdirSync(`/proc/${pid}/fd`).some((descriptor) => {
      const stat = statSync(`/proc/${pid}/fd/${descriptor}`, { throwIfNoEntry: false });
      return stat?.isFIFO() === true && stat.ino === pipe.ino && stat.dev === pipe.dev;
    });
  } catch {
    // Gone, another user's, or a descriptor that cannot be followed.
    return false;
  }
}

/** Differs from boot to boot; empty when unknown. Start ticks mean something within one boot only. */
export function bootId(): string {
  return (readText("/proc/sys/kernel/random/boot_id") ?? "").trim();
}

let childrenFilesExist: boolean | undefined;

/** Not every kernel is built with these files. */
function hasChildrenFiles(): boolean {
  childrenFilesExist ??= readText(`/proc/${process.pid}/task/${process.pid}/children`) !== undefined;
  return childrenFilesExist;
}

function descendantsByFiles(root: number): number[] {
  const found = childrenOf(root);
  // Grows while it is walked.
  for (const pid of found) found.push(...childrenOf(pid));
  return found;
}

function descendantsByStat(root: number): number[] {
  const byParent = Map.groupBy(listProcesses(), (stat) => stat.parentPid);
  const found = (byParent.get(root) ?? []).map((stat) => stat.pid);
  for (const pid of found) found.push(...(byParent.get(pid) ?? []).map((stat) => stat.pid));
  return found;
}

function readText(path: string): string | undefined {
  try {
    return readFileSync(path, "utf8");
  } catch {
    // Gone meanwhile, or not readable for us: both mean that there is nothing to see.
    return undefined;
  }
}
