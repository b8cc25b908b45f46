import { readFileSync } from "node:fs";
import { descendantsOf } from "../../src/server/process-tree.ts";
import type { Host } from "./hosts.ts";

/** Memory of a host and of everything below it, shared pages by their share, in MiB. */
export function treePss(host: Host): number {
  return sumOf(host, "smaps_rollup", /^Pss:\s+(\d+)/m) / 1024;
}

/** Threads of a host and of everything below it. */
export function treeThreads(host: Host): number {
  return sumOf(host, "status", /^Threads:\s+(\d+)/m);
}

function sumOf({ pid }: Host, file: string, pattern: RegExp): number {
  return [pid, ...descendantsOf(pid)].reduce(
    (sum, one) => sum + numberIn(`/proc/${one}/${file}`, pattern),
    0,
  );
}

function numberIn(path: string, pattern: RegExp): number {
  try {
    return Number(pattern.exec(readFileSync(path, "utf8"))?.[1] ?? 0);
  } catch {
    // It has ended meanwhile.
    return 0;
  }
}
