import { execFileSync } from "node:child_process";
import { mkdir, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { temporaryFolder } from "@trivium/core/testing";
import { expect, it } from "vitest";
import { userContext } from "./user-context.ts";

const nowMs = Date.UTC(2026, 10, 29, 23, 59);

it("holds the date and the notes from the repository's root down to the folder", async () => {
  await using folder = await temporaryFolder();
  const inner = join(folder.path, "a", "b");
  await mkdir(inner, { recursive: true });
  await mkdir(join(folder.path, "a", ".git"));
  await writeFile(join(folder.path, "CLAUDE.md"), "above the repository");
  await writeFile(join(folder.path, "a", "CLAUDE.md"), "root note");
  await writeFile(join(inner, "AGENTS.md"), "inner note\n");
  expect(userContext(inner, nowMs, undefined)).toBe(
    "<system-reminder>\n# currentDate\n2026-11-29\n# claudeMd\nroot note\n---\ninner note\n</system-reminder>",
  );
});

it("neither follows a link out of the folder nor waits for a pipe", async () => {
  await using folder = await temporaryFolder();
  const cwd = join(folder.path, "work");
  await mkdir(cwd);
  await writeFile(join(folder.path, "secret"), "secret");
  await symlink(join(folder.path, "secret"), join(cwd, "CLAUDE.md"));
  execFileSync("mkfifo", [join(cwd, "AGENTS.md")]);
  expect(userContext(cwd, nowMs, undefined)).toBe(
    "<system-reminder>\n# currentDate\n2026-11-29\n</system-reminder>",
  );
});
