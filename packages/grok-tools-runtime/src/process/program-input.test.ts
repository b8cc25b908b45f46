import { temporaryFolder } from "@trivium/core/testing";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { createCommandRunner, type ProcessRunner } from "./create-command-runner.ts";
import type { ProgramSpec, RunningProgram } from "./program-runner.ts";
import { readProcessStat } from "./supervisor/process-table.ts";

describe.each(["auto", "fallback"] as const)("a program with input, %s containment", (containment) => {
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

  const talk = (argv: ProgramSpec["argv"]): Promise<RunningProgram> =>
    runner.programs.run({
      argv,
      workingDirectory: folder.path,
      env: { PATH: process.env["PATH"] ?? "" },
      input: "pipe",
    });

  it("reads what is written, in order, and then an end of file", async () => {
    const program = await talk(["cat"]);
    void program.input?.write(Buffer.from("one "));
    void program.input?.write(Buffer.from("two"));
    program.input?.end();
    expect(await read(program)).toBe("one two");
    expect(await program.ended).toMatchObject({ reason: "exited", exitCode: 0 });
  });

  it("answers while it runs", async () => {
    const program = await talk(["bash", "-c", 'while read -r line; do echo "<$line>"; done']);
    const lines = program.stdout[Symbol.asyncIterator]();
    for (const word of ["a", "b"]) {
      await program.input?.write(Buffer.from(`${word}\n`));
      const { value } = await lines.next();
      expect(Buffer.from(value ?? []).toString()).toBe(`<${word}>\n`);
    }
    await lines.return?.();
    expect(await program.ended).toMatchObject({ reason: "stopped" });
  });

  it("makes its writer wait while it does not read, and lets it go when it ends", async () => {
    const program = await talk(["sleep", "30"]);
    const events: string[] = [];
    const written = program.input?.write(Buffer.alloc(8 * 1024 * 1024)).then(() => events.push("written"));
    // Another program's whole life: time enough for the first bytes to get nowhere.
    await read(await talk(["true"]));
    events.push("stopped");
    await program.stop();
    await written;
    expect(events).toEqual(["stopped", "written"]);
  });

  it("carries a large input completely", async () => {
    const program = await talk(["wc", "-c"]);
    await program.input?.write(Buffer.alloc(5_000_000, 97));
    program.input?.end();
    expect((await read(program)).trim()).toBe("5000000");
  });

  it("takes what is written after its end without failing", async () => {
    const program = await talk(["true"]);
    await program.ended;
    await program.input?.write(Buffer.from("too late"));
    program.input?.end();
  });

  it("keeps the last of its standard error", async () => {
    const program = await talk(["bash", "-c", "head -c 200000 /dev/zero >&2; echo last words >&2"]);
    const { stderr } = await program.ended;
    expect(stderr.length).toBe(64 * 1024);
    expect(Buffer.from(stderr).toString().endsWith("last words\n")).toBe(true);
  });

  it.each([
    ["is stopped", "sleep 30"],
    ["ends by itself", "exit 0"],
  ])("leaves nothing in other sessions when it %s", async (_how, then) => {
    const program = await talk(["bash", "-c", `setsid sleep 30 > /dev/null 2>&1 & echo $!; ${then}`]);
    const reader = program.stdout[Symbol.asyncIterator]();
    const { value } = await reader.next();
    const pid = Number(Buffer.from(value ?? []).toString());
    expect(pid).toBeGreaterThan(0);
    await (then === "exit 0" ? program.ended : program.stop());
    expect(readProcessStat(pid)?.state ?? "Z").toBe("Z");
  });
});

async function read(program: RunningProgram): Promise<string> {
  const chunks: Uint8Array[] = [];
  for await (const chunk of program.stdout) chunks.push(chunk);
  return Buffer.concat(chunks).toString();
}
