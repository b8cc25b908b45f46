import { constants } from "node:os";
import type { ReportedProcess } from "./message.ts";
import { commandLineOf, readProcessStat } from "./process-table.ts";

/** The processes of one command, however they hide. Its methods do not wait, except where they say so. */
export interface ProcessTree {
  /** Members that are known now. Ended processes may be among them. */
  members(): number[];
  /** True when nothing is left. */
  isEmpty(): boolean;
  /** Kills until nothing is left or `timeLimitMs` is over. Blocks this process. */
  killAll(timeLimitMs: number): void;
}

/** Sends a signal. False: there is no such process or it is another user's. */
export function trySignal(pid: number, signal: NodeJS.Signals): boolean {
  try {
    return process.kill(pid, signal);
  } catch {
    // ESRCH: gone, which is what we want. EPERM: shows up among the survivors.
    return false;
  }
}

/** Blocks this process for a moment. */
export function pause(milliseconds: number): void {
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, milliseconds);
}

/** What is left of a tree, for a report. */
export function reportMembers(tree: ProcessTree): ReportedProcess[] {
  return tree.members().flatMap((pid) => {
    const stat = readProcessStat(pid);
    return stat === undefined || stat.state === "Z" ? [] : [{ pid, commandLine: commandLineOf(pid) }];
  });
}

/** What is left of a tree after it was killed, with the reason. */
export function reportSurvivors(tree: ProcessTree): ReportedProcess[] {
  return reportMembers(tree).map((process) => ({ ...process, why: whyAlive(process.pid) }));
}

function whyAlive(pid: number): string {
  if (readProcessStat(pid)?.state === "D") return "uninterruptible";
  try {
    process.kill(pid, 0);
    return "unattributed";
  } catch (error) {
    return error instanceof Error && "code" in error ? String(error.code) : "unattributed";
  }
}

/** Name of a signal, for example SIGKILL. */
export function signalName(signalNumber: number): string {
  const entry = Object.entries(constants.signals).find(([, number]) => number === signalNumber);
  return entry?.[0] ?? `SIG${signalNumber}`;
}
