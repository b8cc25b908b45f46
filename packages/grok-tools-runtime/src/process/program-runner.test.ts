import { temporaryFolder } from "@trivium/core/testing";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { createCommandRunner, type ProcessRunner } from "./create-command-runner.ts";
import type { ProgramSpec, RunningProgram } from "./program-runner.ts";
import { childrenOf, descendantsOf, listProcesses } from "./supervisor/process-table.ts";

describe.each(["auto", "fallback"] as const)(
  "ProgramRunner with %s containment",
  { timeout: 20_000 },
  (containment) => {
    let folder: Awaited<ReturnType<typeof temporaryFolder>>;
    let runner: ProcessRunner;
    beforeAll(async () => {
      folder = await temporaryFolder();
      runner = await createCommandRunner({ dataFolder: folder.path, containment });
    });
    afterAll(async () => {
      await runner[Symbol.asyncDispose]();
      await folder[Symbol.asyncDispose]();
    });

    const run = (argv: ProgramSpec["argv"], options: Partial<ProgramSpec> = {}): Promise<RunningProgram> =>
      runner.programs.run({
        argv,
        workingDirectory: folder.path,
        env: { PATH: process.env["PATH"] ?? "" },
        ...options,
      });

    it("gives both outputs apart and the exit code", async () => {
      const program = await run(["bash", "-c", "echo out; echo err >&2; exit 4"]);
      expect(await read(program)).toBe("out\n");
      const end = await program.ended;
      expect(end).toMatchObject({ reason: "exited", exitCode: 4, signal: null });
      expect(Buffer.from(end.stderr).toString()).toBe("err\n");
    });

    it("delivers a long output completely to a slow reader", async () => {
      const program = await run(["seq", "1", "500000"]);
      let length = 0;
      for await (const chunk of program.stdout) {
        length += chunk.length;
        await new Promise((resolve) => setImmediate(resolve));
      }
      expect(length).toBe(3_388_895);
      expect(await program.ended).toMatchObject({ exitCode: 0 });
    });

    it("does not run ahead of its reader", async () => {
      const program = await run(["bash", "-c", "yes | head -c 100000000; echo done > finished"]);
      const reader = program.stdout[Symbol.asyncIterator]();
      await reader.next();
      const { rssBefore, rssAfter } = await memoryWhile(200);
      expect(rssAfter - rssBefore).toBeLessThan(20_000_000);
      await reader.return?.();
      expect(await program.ended).toMatchObject({ reason: "stopped" });
    });

    it("stops a program whose reader leaves", async () => {
      const program = await run(["yes"]);
      for await (const chunk of program.stdout) {
        if (chunk.length > 0) break;
      }
      expect(await program.ended).toMatchObject({ reason: "stopped", exitCode: null, signal: "SIGKILL" });
    });

    it("kills a program at its time-out", async () => {
      const program = await run(["sleep", "30"], { timeoutMs: 100 });
      expect(await program.ended).toMatchObject({ reason: "timed-out", signal: "SIGKILL" });
    });

    it("kills a program whose signal aborts", async () => {
      const controller = new AbortController();
      const program = await run(["sleep", "30"], { signal: controller.signal });
      controller.abort();
      expect(await program.ended).toMatchObject({ reason: "cancelled" });
      await expect(run(["true"], { signal: controller.signal })).rejects.toThrow("abort");
    });

    it("says why a program cannot be started", async () => {
      await expect(run(["no-such-program"])).rejects.toMatchObject({ kind: "notFound" });
      await expect(run(["true"], { workingDirectory: "/nowhere" })).rejects.toMatchObject({
        kind: "notFound",
      });
      await expect(run(["echo", "a".repeat(200_000)])).rejects.toMatchObject({ kind: "invalidInput" });
    });

    it("runs programs side by side", async () => {
      const programs = await Promise.all(
        Array.from({ length: 20 }, (_, index) => run(["echo", String(index)])),
      );
      const texts = await Promise.all(programs.map(read));
      expect(texts).toEqual(programs.map((_, index) => `${index}\n`));
    });

    it("says that its helper is gone, and starts another", async () => {
      const program = await run(["sleep", "30"]);
      const sleep = descendantsOf(process.pid).find((pid) => commandOf(pid) === "sleep");
      process.kill(listProcesses().find((stat) => stat.pid === sleep)?.parentPid ?? 0, "SIGKILL");
      expect(await program.ended).toMatchObject({ reason: "helper-lost" });
      const next = await run(["echo", "again"]);
      expect(await read(next)).toBe("again\n");
      expect(childrenOf(process.pid).filter((pid) => commandOf(pid) === "sleep")).toEqual([]);
    });
  },
);

async function read(program: RunningProgram): Promise<string> {
  const chunks: Uint8Array[] = [];
  for await (const chunk of program.stdout) chunks.push(chunk);
  return Buffer.concat(chunks).toString();
}

async function memoryWhile(milliseconds: number): Promise<{ rssBefore: number; rssAfter: number }> {
  const rssBefore = process.memoryUsage.rss();
  await new Promise((resolve) => setTimeout(resolve, milliseconds));
  return { rssBefore, rssAfter: process.memoryUsage.rss() };
}

function commandOf(pid: number): string {
  return process.getBuiltinModule("node:fs").readFileSync(`/proc/${pid}/comm`, "utf8").trim();
}
