import { mkdir, mkdtemp, readdir, readFile, rename, rm, writeFile } from "node:fs/promises";
import { basename, join } from "node:path";
import { MarkedTree } from "./supervisor/marked-tree.ts";
import { SERVER_MARK } from "./supervisor/marks.ts";
import { bootId, readProcessStat } from "./supervisor/process-table.ts";
import { trySignal } from "./supervisor/process-tree.ts";

/** A process named for ever. */
interface ProcessName {
  readonly pid: number;
  readonly startTicks: number;
}

interface ServerRecord extends ProcessName {
  readonly bootId: string;
  readonly runtimeFolder: string;
}

/** Name prefix of runtime folders; nothing else is ever removed by a sweep. */
export const RUNTIME_FOLDER_PREFIX = "trivium-run-";

const SERVER_FILE = "server.json";
const KILL_LIMIT_MS = 5000;

/** Writes down which processes belong to this server, for the next one. */
export class HelperRegistry {
  readonly #folder: string;

  private constructor(folder: string) {
    this.#folder = folder;
  }

  /** Makes the record of a server below `dataFolder/processes`. */
  static async open(dataFolder: string, serverId: string, runtimeFolder: string): Promise<HelperRegistry> {
    const parent = join(dataFolder, "processes");
    await mkdir(parent, { recursive: true, mode: 0o700 });
    // Complete before it has its name, so that another server's sweep never sees half of it.
    const draft = await mkdtemp(join(parent, ".draft-"));
    const startTicks = readProcessStat(process.pid)?.startTicks ?? 0;
    const record: ServerRecord = { pid: process.pid, startTicks, bootId: bootId(), runtimeFolder };
    await writeFile(join(draft, SERVER_FILE), JSON.stringify(record), { mode: 0o600 });
    const folder = join(parent, serverId);
    await rename(draft, folder);
    return new HelperRegistry(folder);
  }

  async add({ pid, startTicks }: ProcessName): Promise<void> {
    await writeFile(join(this.#folder, String(pid)), String(startTicks), { mode: 0o600 });
  }

  async remove(pid: number): Promise<void> {
    await rm(join(this.#folder, String(pid)), { force: true });
  }

  /** Every helper has ended. */
  async close(): Promise<void> {
    await rm(this.#folder, { recursive: true, force: true });
  }
}

/**
 * Ends what servers that died together with their helpers have left, and removes their records.
 *
 * @param dataFolder folder that was given to the runner of those servers; one that does not exist is clean
 * @returns how many servers were swept
 */
export async function sweepDeadServers(dataFolder: string): Promise<number> {
  const parent = join(dataFolder, "processes");
  const names = await readdir(parent).catch(() => []);
  let count = 0;
  for (const serverId of names.filter((name) => !name.startsWith("."))) {
    const folder = join(parent, serverId);
    const record = await readRecord(folder);
    if (record !== undefined && isRunning(record)) continue;
    // Process numbers of another boot mean nothing.
    if (record?.bootId === bootId()) {
      for (const name of await readNames(folder)) {
        if (isSameProcess(name)) trySignal(name.pid, "SIGKILL");
      }
      new MarkedTree({ environmentEntry: `${SERVER_MARK}=${serverId}` }).killAll(KILL_LIMIT_MS);
    }
    if (record !== undefined && basename(record.runtimeFolder).startsWith(RUNTIME_FOLDER_PREFIX)) {
      await rm(record.runtimeFolder, { recursive: true, force: true });
    }
    await rm(folder, { recursive: true, force: true });
    count += 1;
  }
  return count;
}

function isRunning(record: ServerRecord): boolean {
  return record.bootId === bootId() && isSameProcess(record);
}

function isSameProcess({ pid, startTicks }: ProcessName): boolean {
  const stat = readProcessStat(pid);
  return stat !== undefined && stat.state !== "Z" && stat.startTicks === startTicks;
}

async function readRecord(folder: string): Promise<ServerRecord | undefined> {
  try {
    const value: unknown = JSON.parse(await readFile(join(folder, SERVER_FILE), "utf8"));
    return isRecord(value) ? value : undefined;
  } catch {
    // Unreadable: nothing can be learnt from it.
    return undefined;
  }
}

function isRecord(value: unknown): value is ServerRecord {
  return (
    typeof value === "object" &&
    value !== null &&
    "pid" in value &&
    typeof value.pid === "number" &&
    "startTicks" in value &&
    typeof value.startTicks === "number" &&
    "bootId" in value &&
    typeof value.bootId === "string" &&
    "runtimeFolder" in value &&
    typeof value.runtimeFolder === "string"
  );
}

async function readNames(folder: string): Promise<ProcessName[]> {
  const pids = (await readdir(folder)).filter((name) => /^\d+$/.test(name));
  return await Promise.all(
    pids.map(async (pid) => ({
      pid: Number(pid),
      startTicks: Number(await readFile(join(folder, pid), "utf8").catch(() => "")),
    })),
  );
}
