import { execFileSync } from "node:child_process";
import { mkdir, rm, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { temporaryFolder } from "@trivium/core/testing";
import { expect, it } from "vitest";
import { userContext } from "./user-context.ts";

const nowMs = Date.UTC(2026, 10, 29, 23, 59);
const nobody = { nowMs, userFolder: undefined, homeFolder: undefined };

it("holds the date and the notes from the repository's root down to the folder", async () => {
  await using folder = await temporaryFolder();
  const inner = join(folder.path, "a", "b");
  await mkdir(inner, { recursive: true });
  await mkdir(join(folder.path, "a", ".git"));
  await writeFile(join(folder.path, "CLAUDE.md"), "above the repository");
  await writeFile(join(folder.path, "a", "CLAUDE.md"), "root note");
  await writeFile(join(inner, "AGENTS.md"), "inner note\n");
  expect(userContext({ ...nobody, cwd: inner })).toBe(
    "<system-reminder>\n# currentDate\n2026-11-29\n# claudeMd\nroot note\n---\ninner note\n</system-reminder>",
  );
});

it("holds the beginning of a note that is too long", async () => {
  await using folder = await temporaryFolder();
  await writeFile(join(folder.path, "CLAUDE.md"), `begin${"x".repeat(300_000)}`);
  expect(userContext({ ...nobody, cwd: folder.path })).toMatch(
    /\n# claudeMd\nbeginx{65531}\n<\/system-reminder>$/,
  );
});

it("neither follows a link out of the folder nor waits for a pipe", async () => {
  await using folder = await temporaryFolder();
  const cwd = join(folder.path, "work");
  await mkdir(cwd);
  await writeFile(join(folder.path, "secret"), "secret");
  await symlink(join(folder.path, "secret"), join(cwd, "CLAUDE.md"));
  execFileSync("mkfifo", [join(cwd, "AGENTS.md")]);
  expect(userContext({ ...nobody, cwd })).toBe(
    "<system-reminder>\n# currentDate\n2026-11-29\n</system-reminder>",
  );
});

it("holds the notes of the user before those of the project, and what was remembered", async () => {
  await using folder = await temporaryFolder();
  const at = (...names: string[]): string => join(folder.path, ...names);
  const write = async (text: string, ...names: string[]): Promise<void> => {
    await mkdir(at(...names.slice(0, -1)), { recursive: true });
    await writeFile(at(...names), text);
  };
  await write("home note", "home", ".claude", "CLAUDE.md");
  await write("user note", "home", ".crabcode", "CLAUDE.md");
  await write("project note", "work", ".claude", "CLAUDE.md");
  const memory = (title: string, content: unknown) => ({ id: "0123456789ab", title, content });
  await write(
    JSON.stringify([memory("Name", "Ada"), memory("broken", 1)]),
    "home",
    ".crabcode",
    "memories.json",
  );
  await write(JSON.stringify([memory("Build", "pnpm")]), "work", ".crabcode", "memories.json");
  const options = { nowMs, cwd: at("work"), homeFolder: at("home"), userFolder: at("home", ".crabcode") };
  expect(userContext(options)).toBe(
    `<system-reminder>
# currentDate
2026-11-29
# claudeMd
home note
---
user note
---
project note
# memories
[global] Name: Ada
[project] Build: pnpm
</system-reminder>`,
  );
  // Neither a broken file nor one outside the project costs the rest.
  await rm(at("work", ".crabcode"), { recursive: true });
  await symlink(at("home", ".crabcode"), at("work", ".crabcode"));
  expect(userContext(options)).toContain("# memories\n[global] Name: Ada\n</system-reminder>");
  await write("{", "home", ".crabcode", "memories.json");
  expect(userContext(options)).not.toContain("memories");
  expect(userContext(options)).toContain("project note");
});
