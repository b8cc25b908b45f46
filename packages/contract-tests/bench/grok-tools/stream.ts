import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { createClient } from "@connectrpc/connect";
import { GrokToolsService } from "@trivium/proto/grok-tools";
import { median, processCpuMs, report, residentMiB } from "./measure.ts";
import { openTools, resetPeak } from "./tools-server.ts";

const ROUNDS = 5;

/** An answer of 64 MiB through ExecuteToolStream: a skill document of 16 MiB, which is shown whole and four times. */
export async function benchStream(): Promise<void> {
  await using tools = await openTools(["GrokBuild:read_file"]);
  const { server, session } = tools;
  const path = join(server.workspace, "SKILL.md");
  await writeFile(path, `${"x".repeat(1023)}\n`.repeat(16 * 1023));
  const client = createClient(GrokToolsService, tools.transport);
  const headers = { "x-trivium-session": session.sessionId ?? "" };
  const small = join(server.workspace, "small.txt");
  await writeFile(small, "small\n");
  for (let round = 0; round < 50; round++) await session.callOrThrow("read_file", { target_file: small });
  const idle = residentMiB(server.pid);
  resetPeak(server.pid);
  const rates: number[] = [];
  const sums: number[] = [];
  const cpuBefore = processCpuMs(server.pid);
  let allBytes = 0;
  for (let round = 0; round < ROUNDS; round++) {
    const request = { toolName: "read_file", inputJson: JSON.stringify({ target_file: path }) };
    let bytes = 0;
    let firstAt = 0;
    const start = performance.now();
    for await (const { chunk } of client.executeToolStream(request, { headers })) {
      if (chunk.case !== "data") continue;
      firstAt ||= performance.now();
      bytes += chunk.value.data.length;
    }
    allBytes += bytes;
    rates.push(bytes / 1e6 / ((performance.now() - firstAt) / 1000));
    sums.push(bytes / 1e6 / ((performance.now() - start) / 1000));
  }
  report("64 MiB through ExecuteToolStream", median(rates), {
    limit: 150,
    unit: "MB/s",
    atLeast: true,
    note: [
      `best ${Math.max(...rates).toFixed(0)} MB/s`,
      `with the tool's own work ${median(sums).toFixed(0)} MB/s`,
      `CPU of the server, the tool's work included: ${(allBytes / 1e3 / (processCpuMs(server.pid) - cpuBefore)).toFixed(0)} MB per second`,
    ].join("; "),
  });
  report("memory above idle meanwhile", residentMiB(server.pid, "peak") - idle, { limit: 64, unit: "MiB" });
}
