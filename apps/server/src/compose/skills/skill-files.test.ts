import { mkdir, symlink, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { temporaryFolder } from "@trivium/core/testing";
import { expect, it } from "vitest";
import { createSkillFiles } from "./skill-files.ts";

it("finds documents with their triggers, those of later places in place of earlier ones", async () => {
  await using folder = await temporaryFolder();
  const write = async (path: string, text: string): Promise<void> => {
    await mkdir(dirname(join(folder.path, path)), { recursive: true });
    await writeFile(join(folder.path, path), text);
  };
  await write("user/skills/review/SKILL.md", "---\ndescription: of the user\n---\nuser");
  await write("user/skills/only/SKILL.md", "Only the user's.");
  await write("user/skills/hidden/SKILL.md", "---\ndisable-model-invocation: true\n---\nhidden");
  await write("user/commands/command.md", "a command, no skill");
  await write(
    "work/.crabcode/skills/review/SKILL.md",
    "---\ndescription: of the project\npathPatterns: '*.ts, *.js'\nchainTo: [only]\n---\nproject $USER_INPUT\n",
  );
  await write("elsewhere/secret/SKILL.md", "secret");
  await symlink(join(folder.path, "elsewhere"), join(folder.path, "work", ".crabcode", "skills", "link"));
  const port = createSkillFiles();
  const places = [
    { folder: join(folder.path, "user"), inside: undefined },
    { folder: join(folder.path, "work", ".crabcode"), inside: join(folder.path, "work") },
    { folder: join(folder.path, "work", ".claude"), inside: join(folder.path, "work") },
  ];
  const skills = await port.find(places);
  expect(skills).toMatchObject([
    { name: "only", description: "Only the user's.", pathPatterns: [] },
    { name: "review", description: "of the project", pathPatterns: ["*.ts", "*.js"], chainTo: ["only"] },
  ]);
  const [only, review] = skills;
  if (only === undefined || review === undefined) return;
  expect(await port.load(review)).toBe("project $USER_INPUT");
  await write("user/skills/only/SKILL.md", "changed");
  expect(await port.load(only)).toBe("changed");
});
