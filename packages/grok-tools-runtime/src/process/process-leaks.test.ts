import { readdirSync, readlinkSync } from "node:fs";
import { join } from "node:path";
import { temporaryFolder } from "@trivium/core/testing";
import { expect, it } from "vitest";
import { until } from "../testing/until.ts";
import type { CommandSpec } from "./command-runner.ts";
import { createCommandRunner, type ProcessRunner } from "./create-command-runner.ts";
import { descendantsOf, readProcessStat } from "./supervisor/process-table.ts";

const MIXED: readonly Partial<CommandSpec>[] = [
  { argv: ["true"] },
  { argv: ["bash", "-c", "seq 1000; exit 3"] },
  { argv: ["no-such-program"] },
  { argv: ["bash", "-c", "(sleep 0.01 &); (sleep 0.02 &)"] },
  { argv: ["bash", "-c", "sleep 30 & exit 0"], keepsLeftovers: true },
  { argv: ["cat"], stdin: "text" },
  { argv: ["echo", "a".repeat(200_000)] },
  { argv: ["bash", "-c", `true ${"a".repeat(150_000)}`] },
];

it("keeps no descriptor and no ended process after many runs", async () => {
  await using folder = await temporaryFolder();
  await using runner = await createCommandRunner({ dataFolder: folder.path, maxCommands: 4 });
  await runMany(runner, folder.path, 40);
  const before = census();
  await runMany(runner, folder.path, 200);
  // Helpers that were let go, and files that are being written, are closed a moment later.
  await until(() => census().zombies === 0 && census().ownFiles <= before.ownFiles);
  const after = census();
  // Spare supervisors may have been replaced, but none has collected anything.
  expect(Math.max(...after.helperDescriptors)).toBeLessThanOrEqual(Math.max(...before.helperDescriptors));
  expect(runner.stats()).toMatchObject({ live: 0, queued: 0, lingering: 0 });
}, 60_000);

it("reaps what programs leave behind", async () => {
  await using folder = await temporaryFolder();
  await using runner = await createCommandRunner({ dataFolder: folder.path });
  for (let round = 0; round < 5; round++) {
    const program = await runner.programs.run({
      argv: ["bash", "-c", "(sleep 0.05 &); (sleep 30 &); exit 0"],
      workingDirectory: folder.path,
      env: { PATH: process.env["PATH"] ?? "" },
      timeoutMs: 10_000,
      signal: new AbortController().signal,
    });
    for await (const _ of program.stdout);
    expect(await program.ended).toMatchObject({ exitCode: 0 });
  }
  await until(() => census().zombies === 0);
}, 30_000);

async function runMany(runner: ProcessRunner, folder: string, count: number): Promise<void> {
  const one = async (index: number): Promise<void> => {
    const command = await runner.start({
      argv: ["true"],
      workingDirectory: folder,
      env: { PATH: process.env["PATH"] ?? "" },
      logPath: join(folder, `${index % 8}.log`),
      headBytes: 100,
      tailBytes: 100,
      ...MIXED[index % MIXED.length],
    });
    if (index % 10 === 9) await command.kill("cancelled", 0);
    await command.ended;
    await command.release();
  };
  for (let index = 0; index < count; index += 4) {
    await Promise.all([0, 1, 2, 3].map((offset) => one(index + offset)));
  }
}

function census(): { ownFiles: number; helperDescriptors: number[]; zombies: number } {
  const below = descendantsOf(process.pid);
  return {
    // Connections come and go with the helpers.
    ownFiles: readdirSync("/proc/self/fd").filter((name) => !isSocket(name)).length,
    helperDescriptors: below.map((pid) => {
      try {
        return readdirSync(`/proc/${pid}/fd`).length;
      } catch {
        // It ended meanwhile.
        return 0;
      }
    }),
    zombies: below.filter((pid) => readProcessStat(pid)?.state === "Z").length,
  };
}

function isSocket(descriptor: string): boolean {
  try {
    return readlinkSync(`/proc/self/fd/${descriptor}`).startsWith("socket:");
  } catch {
    // Closed meanwhile: the descriptor of the listing itself.
    return true;
  }
}
