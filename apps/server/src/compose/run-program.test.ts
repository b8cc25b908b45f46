import { mkdir, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { temporaryFolder } from "@trivium/core/testing";
import { createCommandRunner, type ProcessRunner } from "@trivium/grok-tools-runtime";
import { afterAll, beforeAll, expect, it } from "vitest";
import { createRunProgram } from "./run-program.ts";

let folder: Awaited<ReturnType<typeof temporaryFolder>>;
let processes: ProcessRunner;

beforeAll(async () => {
  folder = await temporaryFolder();
  processes = await createCommandRunner({ dataFolder: folder.path, maxCommands: 2 });
});
afterAll(async () => {
  await processes[Symbol.asyncDispose]();
  await folder[Symbol.asyncDispose]();
});

it("hands over input and environment and gives back both outputs and the code", async () => {
  const script = 'cat; echo "$WANTED-$GIT_DIR-$A_SECRET" >&2; exit 3';
  const { exitCode, stdout, stderr } = await run({ argv: ["sh", "-c", script], input: Buffer.from("in\0") });
  expect(exitCode).toBe(3);
  expect(Buffer.from(stdout).toString()).toBe("in\0");
  expect(stderr).toBe("yes--\n");
});

it("says what is missing, and ends what prints too much or is not wanted any more", async () => {
  await expect(run({ argv: ["no-such-program-here"] })).rejects.toMatchObject({ kind: "notFound" });
  await expect(run({ argv: ["yes"] })).rejects.toMatchObject({ kind: "resourceExhausted" });
  await expect(run({ argv: ["sleep", "60"], timeoutMs: 50 })).rejects.toMatchObject({ kind: "unavailable" });
  const abort = new AbortController();
  const running = run({ argv: ["sleep", "60"], signal: abort.signal });
  abort.abort(new Error("enough"));
  await expect(running).rejects.toThrow("enough");
});

it("takes no program from a folder that is not trusted", async () => {
  const local = join(folder.path, "work", "bin");
  await mkdir(local, { recursive: true });
  await writeFile(join(local, "a-linter"), "#!/bin/sh\necho $PATH", { mode: 0o755 });
  const link = join(folder.path, "link");
  await symlink(local, link);
  const PATH = `${local}:${link}:bin::${process.env["PATH"]}`;
  const request = {
    argv: ["a-linter"],
    workingDirectory: join(folder.path, "work"),
    environment: { PATH },
  } as const;
  expect((await run(request)).exitCode).toBe(0);
  const distrustedFolders = [join(folder.path, "work")];
  await expect(run({ ...request, distrustedFolders })).rejects.toMatchObject({ kind: "notFound" });
  const { stdout } = await run({ ...request, argv: ["sh", "-c", "echo $PATH"], distrustedFolders });
  expect(Buffer.from(stdout).toString()).not.toMatch(/work.bin|(^|:)bin|::/);
  expect(Buffer.from(stdout).toString()).not.toContain(link);
});

function run(request: {
  argv: readonly [string, ...string[]];
  workingDirectory?: string;
  environment?: Readonly<Record<string, string>>;
  distrustedFolders?: readonly string[];
  input?: Uint8Array;
  timeoutMs?: number;
  signal?: AbortSignal;
}) {
  const runProgram = createRunProgram({
    programs: processes.programs,
    policy: { inherit: "all", ignoreDefaultExcludes: true, exclude: [], set: {}, includeOnly: [] },
    secretVariables: ["A_SECRET"],
    server: { PATH: process.env["PATH"], GIT_DIR: "/elsewhere", A_SECRET: "s" },
  });
  return runProgram({
    workingDirectory: folder.path,
    environment: { WANTED: "yes" },
    timeoutMs: 60_000,
    maxOutputBytes: 100_000,
    ...request,
  });
}
