import { readdirSync, readFileSync } from "node:fs";

/** All living descendants of a process, zombies left out. */
export function descendantsOf(pid: number): number[] {
  const children = readChildren();
  const found: number[] = [];
  const pending = [pid];
  for (let current = pending.pop(); current !== undefined; current = pending.pop()) {
    for (const child of children.get(current) ?? []) {
      found.push(child);
      pending.push(child);
    }
  }
  return found;
}

/** Those of the given processes that are alive. */
export function aliveOf(pids: readonly number[]): number[] {
  const alive = new Set([...readChildren().values()].flat());
  return pids.filter((pid) => alive.has(pid));
}

/** Living processes whose command line contains the text. */
export function processesWith(text: string): number[] {
  return processIds().filter((pid) => readProc(pid, "cmdline").replaceAll("\0", " ").includes(text));
}

/** Waits until `isTrue`, looking every few milliseconds; false when `withinMs` pass first. */
export async function eventually(isTrue: () => boolean, withinMs: number): Promise<boolean> {
  const start = performance.now();
  while (!isTrue()) {
    if (performance.now() - start > withinMs) return false;
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
  return true;
}

function readChildren(): Map<number, number[]> {
  const children = new Map<number, number[]>();
  for (const pid of processIds()) {
    // "pid (name) state ppid …"; the name may hold anything, so the last parenthesis counts.
    const [state, parent] = readProc(pid, "stat")
      .replace(/^.*\) /s, "")
      .split(" ");
    if (parent === undefined || state === "Z") continue;
    children.set(Number(parent), [...(children.get(Number(parent)) ?? []), pid]);
  }
  return children;
}

function processIds(): number[] {
  return readdirSync("/proc").map(Number).filter(Number.isInteger);
}

function readProc(pid: number, file: string): string {
  try {
    return readFileSync(`/proc/${pid}/${file}`, "utf8");
  } catch {
    // It ended between the listing and the look.
    return "";
  }
}
