import { readdirSync, readFileSync } from "node:fs";

/** Worker processes that a process has started, by their process ids. Linux only. */
export function workerPids(parentPid: number = process.pid): number[] {
  const pids: number[] = [];
  for (const name of readdirSync("/proc")) {
    if (!/^\d+$/.test(name)) continue;
    try {
      const stat = readFileSync(`/proc/${name}/stat`, "latin1");
      const [, parent] = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
      if (Number(parent) !== parentPid) continue;
      if (readFileSync(`/proc/${name}/cmdline`, "latin1").includes("cell-worker")) pids.push(Number(name));
    } catch {
      // It ended while it was looked at.
    }
  }
  return pids;
}

/** True while the process exists and is not a zombie. */
export function isAlive(pid: number): boolean {
  try {
    return !/^State:\s+Z/m.test(readFileSync(`/proc/${pid}/status`, "latin1"));
  } catch {
    return false;
  }
}
