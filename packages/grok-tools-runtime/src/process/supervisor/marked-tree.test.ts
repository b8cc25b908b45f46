import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { afterEach, expect, it } from "vitest";
import { until } from "../../testing/until.ts";
import { MarkedTree } from "./marked-tree.ts";
import { isRunning, listProcesses, readProcessStat } from "./process-table.ts";

const NOBODY = "_TRIVIUM_COMMAND=nobody";
const started: ChildProcess[] = [];
afterEach(() => {
  for (const { pid } of started.splice(0)) {
    try {
      process.kill(-(pid ?? 0), "SIGKILL");
    } catch {
      // Ended already.
    }
  }
});

it("takes the session of its shell", () => {
  const pid = startSession("sleep 60");
  const startTicks = readProcessStat(pid)?.startTicks ?? 0;
  expect(new MarkedTree({ environmentEntry: NOBODY, shell: { pid, startTicks } }).members()).toContain(pid);
});

it("leaves a session alone whose leader got the number later than the shell", () => {
  const pid = startSession("sleep 60");
  const startTicks = (readProcessStat(pid)?.startTicks ?? 0) - 1;
  const tree = new MarkedTree({ environmentEntry: NOBODY, shell: { pid, startTicks } });
  expect(tree.members()).toEqual([]);
  tree.killAll(1000);
  expect(isRunning({ pid, startTicks: startTicks + 1 })).toBe(true);
});

it("takes a session without a leader only while somebody in it is known", async () => {
  const pid = startSession("sleep 60 & MARK=mine sleep 60 & exit 0");
  const shell = { pid, startTicks: readProcessStat(pid)?.startTicks ?? 0 };
  const early = new MarkedTree({ environmentEntry: NOBODY, shell });
  await ended(pid);
  const rest = listProcesses().filter(({ sessionId }) => sessionId === pid);
  expect(rest).toHaveLength(2);
  early.noteLeaderEnd();
  const pids = rest.map((stat) => stat.pid);
  expect(early.members()).toEqual(pids);
  expect(new MarkedTree({ environmentEntry: "MARK=mine", shell }).members()).toEqual(pids);
  expect(new MarkedTree({ environmentEntry: NOBODY, shell }).members()).toEqual([]);
});

function startSession(text: string): number {
  const child = spawn("bash", ["-c", text], { detached: true, stdio: "ignore" });
  started.push(child);
  return child.pid ?? 0;
}

async function ended(pid: number): Promise<void> {
  const child = started.find((candidate) => candidate.pid === pid);
  if (child !== undefined && child.exitCode === null) await once(child, "exit");
  await until(() => readProcessStat(pid) === undefined);
}
