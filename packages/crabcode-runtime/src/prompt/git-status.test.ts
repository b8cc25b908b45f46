import { mkdir, stat, utimes, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { silentLogger, TriviumError } from "@trivium/core";
import { temporaryFolder } from "@trivium/core/testing";
import { expect, it } from "vitest";
import { runSpawned } from "../testing/spawned-programs.ts";
import { readGitStatus } from "./git-status.ts";

const logger = silentLogger;

it("tells branch, changed files and the newest commits", async () => {
  await using folder = await temporaryFolder();
  const cwd = join(folder.path, "inner");
  await mkdir(cwd);
  await git(folder.path, "init", "--quiet", "--initial-branch=main");
  expect(await readGitStatus({ run: runSpawned, cwd, logger })).toBe(
    "Branch: No commits yet on main\nStatus:\n(clean)\nRecent commits:\n(none)",
  );
  for (const message of ["1", "2", "3", "4", "5", "6"]) {
    await git(folder.path, "commit", "--quiet", "--allow-empty", "--message", `commit ${message}`);
  }
  await writeFile(join(cwd, "new"), "");
  const text = await readGitStatus({ run: runSpawned, cwd, logger });
  expect(text?.replaceAll(/[0-9a-f]{7,} commit/g, "# commit")).toBe(
    `Branch: main\nStatus:\n?? ./\nRecent commits:\n${["6", "5", "4", "3", "2"].map((n) => `# commit ${n}`).join("\n")}`,
  );
});

it("cuts a long list", async () => {
  await using folder = await temporaryFolder();
  await git(folder.path, "init", "--quiet");
  for (let n = 0; n < 60; n++) await writeFile(join(folder.path, `${n}-${"x".repeat(60)}`), "");
  const text = await readGitStatus({ run: runSpawned, cwd: folder.path, logger });
  expect(text).toContain("\n[cut; run git status for all]\n");
  expect(text?.length).toBeLessThan(2_200);
});

it("cuts what a commit says", async () => {
  await using folder = await temporaryFolder();
  await git(folder.path, "init", "--quiet");
  await writeFile(join(folder.path, "message"), "x".repeat(100_000));
  await git(folder.path, "commit", "--quiet", "--allow-empty", "--file=message");
  const text = await readGitStatus({ run: runSpawned, cwd: folder.path, logger });
  expect(text).toMatch(/\nRecent commits:\n[0-9a-f]{7,} x+\n\[cut; run git log for all\]$/);
  expect(text?.length).toBeLessThan(2_200);
});

it("runs nothing that the repository itself names", async () => {
  await using folder = await temporaryFolder();
  const { path } = folder;
  const proof = join(path, "proof");
  await git(path, "init", "--quiet");
  await writeFile(join(path, "a.txt"), "one");
  await git(path, "add", "a.txt");
  await git(path, "commit", "--quiet", "--message", "first");
  await writeFile(join(path, ".gitattributes"), "*.txt filter=evil\n");
  for (const key of ["filter.evil.clean", "filter.evil.process", "core.fsmonitor", "gpg.program"]) {
    await git(path, "config", key, `touch ${proof}; cat`);
  }
  await git(path, "config", "filter.evil.required", "true");
  await git(path, "config", "log.showSignature", "true");
  // As long as before, at another time: git has to look at the content.
  await writeFile(join(path, "a.txt"), "two");
  await utimes(join(path, "a.txt"), 1, 1);
  expect(await readGitStatus({ run: runSpawned, cwd: path, logger })).toContain(" M a.txt");
  await expect(stat(proof)).rejects.toThrow("ENOENT");
});

it("says nothing outside a repository, without git, and when git does not answer", async () => {
  await using folder = await temporaryFolder();
  const cwd = folder.path;
  expect(await readGitStatus({ run: runSpawned, cwd, logger })).toBeUndefined();
  expect(await readGitStatus({ run: undefined, cwd, logger })).toBeUndefined();
  const run = () => Promise.reject(new TriviumError("unavailable", "git ran longer than 5000 ms"));
  expect(await readGitStatus({ run, cwd, logger })).toBeUndefined();
});

async function git(workingDirectory: string, ...args: string[]): Promise<void> {
  const { exitCode, stderr } = await runSpawned({
    argv: ["git", "-c", "user.name=u", "-c", "user.email=u@x", ...args],
    workingDirectory,
    environment: {},
    timeoutMs: 60_000,
    maxOutputBytes: 1_000_000,
  });
  if (exitCode !== 0) throw new Error(stderr);
}
