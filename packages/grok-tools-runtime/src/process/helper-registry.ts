import { mkdir, mkdtemp, readdir, readFile, rename, rm, writeFile } from "node:fs/promises";
import { basename, join } from "node:path";
import { MarkedTree } from "./supervisor/marked-tree.ts";
import { SERVER_MARK } from "./supervisor/marks.ts";
import type { ProcessName } from "./supervisor/message.ts";
import { bootId, isRunning, readProcessStat } from "./supervisor/process-table.ts";
import { trySignal } from "./supervisor/process-tree.ts";

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

  /** Makes the record of a server in a folder of its own below `parent`. */
  static async open(parent: string, serverId: string, runtimeFolder: string): Promise<HelperRegistry> {
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
 * @param parent folder that was given to the runner of those servers; one that does not exist is clean
 * @returns how many servers were swept
 */
export async function sweepDeadServers(parent: string): Promise<number> {
  const names = await readdir(parent).catch(() => []);
  let count = 0;
  for (const serverId of names.filter((name) => !name.startsWith("."))) {
    const folder = join(parent, serverId);
    const record = await readRecord(folder);
    // Whatever else is in the folder is not ours.
    if (record === undefined) continue;
    // Process numbers of another boot mean nothing.
    if (record.bootId === bootId()) {
      if (isRunning(record)) continue;
      for (const name of await readNames(folder)) {
        if (isRunning(name)) trySignal(name.pid, "SIGKILL");
      }
      new MarkedTree({ environmentEntry: `${SERVER_MARK}=${serverId}` }).killAll(KILL_LIMIT_MS);
    }
    if (basename(record.runtimeFolder).startsWith(RUNTIME_FOLDER_PREFIX)) {
      await rm(record.runtimeFolder, { recursive: true, force: true });
    }
    await rm(folder, { recursive: true, force: true });
    count += 1;
  }
  return count;
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
