import { readFileSync } from "node:fs";
import { listProcesses } from "../process/supervisor/process-table.ts";

/** Command lines of all live processes of this machine, arguments joined by blanks. */
export function commandLines(): string[] {
  return listProcesses()
    .filter((stat) => stat.state !== "Z")
    .map((stat) => {
      try {
        return readFileSync(`/proc/${stat.pid}/cmdline`, "utf8").replaceAll("\0", " ").trim();
      } catch {
        // Ended meanwhile.
        return "";
      }
    });
}
