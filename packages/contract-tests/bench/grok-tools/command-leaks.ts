import { readdirSync, readFileSync } from "node:fs";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { descendantsOf, eventually } from "../../src/server/process-tree.ts";
import { median, quantile, report, residentMiB, timeOf } from "./measure.ts";
import { openTools, shellTools } from "./tools-server.ts";

const SEQUENTIAL = 10_000;
const CONCURRENT = 200;
const LIMIT = 8;
/** Every buffer, cache and pool has its usual size by then. */
const WARM_UP = 1_000;

/** Ten thousand commands one after the other and two hundred at once leave nothing behind, and no read waits for them. */
export async function benchCommandLeaks(): Promise<void> {
  await using tools = await openTools([...shellTools, "GrokBuild:read_file"], {
    parameters: ["--set", `tools.maxConcurrentCommands=${LIMIT}`],
  });
  const { server, session } = tools;
  const command = (text: string) =>
    session.callOrThrow("run_terminal_cmd", { command: text, description: "Do little" });
  for (let index = 0; index < WARM_UP; index++) await command("true");
  const before = await census(server.pid);
  const start = performance.now();
  for (let index = 0; index < SEQUENTIAL; index++) await command("true");
  const perCommand = (performance.now() - start) / SEQUENTIAL;
  const after = await census(server.pid);
  reportGrowth(`${SEQUENTIAL} commands, ${perCommand.toFixed(1)} ms each`, before, after);

  const target_file = join(server.workspace, "small.txt");
  await writeFile(target_file, "small\n");
  const read = () => timeOf(() => session.callOrThrow("read_file", { target_file }));
  const alone: number[] = [];
  for (let index = 0; index < 50; index++) alone.push(await read());
  let isRunning = true;
  const commands = Promise.all(Array.from({ length: CONCURRENT }, () => command("sleep 0.2"))).then(() => {
    isRunning = false;
  });
  const beside: number[] = [];
  while (isRunning) beside.push(await read());
  await commands;
  report("read_file beside 200 commands of which 8 run", median(beside), {
    limit: 20,
    unit: "ms",
    note: `p99 ${quantile(beside, 0.99).toFixed(1)} ms of ${beside.length}; alone ${median(alone).toFixed(1)} ms; a place is free every 25 ms`,
  });
  // Supervisors that the burst has left stay for half a minute.
  await eventually(() => descendantsOf(server.pid).length <= after.processes, 60_000);
  reportGrowth(`${CONCURRENT} commands at once`, after, await census(server.pid));
}

interface Census {
  /** Below the server. */
  readonly processes: number;
  readonly descriptors: number;
  readonly zombies: number;
  readonly residentMiB: number;
  readonly helpersMiB: number;
}

async function census(pid: number): Promise<Census> {
  // The last command is being tidied up when its answer has arrived.
  await eventually(() => zombiesBelow(pid) === 0, 2_000);
  const below = descendantsOf(pid);
  return {
    processes: below.length,
    descriptors: [pid, ...below].reduce((sum, one) => sum + descriptorsOf(one), 0),
    zombies: zombiesBelow(pid),
    residentMiB: residentMiB(pid),
    helpersMiB: below.reduce((sum, one) => sum + residentMiB(one), 0),
  };
}

function reportGrowth(title: string, before: Census, after: Census): void {
  const grown = (key: keyof Census): number => after[key] - before[key];
  report(`descriptors more after ${title}`, grown("descriptors"), { limit: 4, unit: "descriptors" });
  report(`zombies after ${title}`, after.zombies, { limit: 0, unit: "processes" });
  report(`memory of the server more after ${title}`, grown("residentMiB"), {
    limit: 32,
    unit: "MiB",
    note: `from ${before.residentMiB.toFixed(0)} MiB; its helpers ${before.helpersMiB.toFixed(0)} to ${after.helpersMiB.toFixed(0)} MiB`,
  });
}

/** Processes that have ended and that nobody has waited for, below a process. */
function zombiesBelow(pid: number): number {
  const parents = new Set([pid, ...descendantsOf(pid)]);
  return readdirSync("/proc").filter((name) => {
    const [state, parent] = readStat(name);
    return state === "Z" && parents.has(Number(parent));
  }).length;
}

/** What stands behind the name, which may hold anything: state, parent and more. */
function readStat(name: string): string[] {
  try {
    return readFileSync(`/proc/${name}/stat`, "utf8")
      .replace(/^.*\) /s, "")
      .split(" ");
  } catch {
    // No process, or one that has ended.
    return [];
  }
}

function descriptorsOf(pid: number): number {
  try {
    return readdirSync(`/proc/${pid}/fd`).length;
  } catch {
    // It has ended.
    return 0;
  }
}
