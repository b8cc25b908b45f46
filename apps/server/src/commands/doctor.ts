import type { CliProcess } from "../cli.ts";
import type { Config } from "../config/read-config.ts";
import { formatResults, runChecks } from "../doctor/check.ts";
import { doctorChecks } from "../doctor/checks.ts";

/** Longest time one check may take. */
const CHECK_MS = 10_000;

/** `trivium doctor`: 0 when everything works, 1 when something does not. */
export async function doctor(
  { values }: Config,
  { io, isJson }: { io: CliProcess; isJson: boolean },
): Promise<number> {
  const results = await runChecks(doctorChecks({ values, env: io.env }), CHECK_MS);
  io.stdout.write(`${isJson ? JSON.stringify(results, undefined, 2) : formatResults(results)}\n`);
  return results.some(({ status }) => status === "fail") ? 1 : 0;
}
