import { readFileSync } from "node:fs";

/**
 * Names this run of the machine's kernel; undefined where it cannot be told.
 *
 * What a process handed to the operating system survives the process, not the machine.
 */
export function readBootId(): string | undefined {
  try {
    return readFileSync("/proc/sys/kernel/random/boot_id", "utf8").trim();
  } catch {
    // No such file outside Linux: then only a clean close proves that the log is complete.
    return undefined;
  }
}
