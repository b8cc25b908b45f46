import { mkdir, symlink, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { temporaryFolder } from "@trivium/core/testing";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { toolContext } from "../testing/tool-context.ts";
import { type InstructionScope, InstructionTracker } from "./instruction-tracker.ts";

let folder: Awaited<ReturnType<typeof temporaryFolder>>;

beforeEach(async () => {
  folder = await temporaryFolder();
  // The least that git takes for a repository.
  await put("repo/.git/HEAD", "ref: refs/heads/main\n");
  await put("repo/.git/info/exclude");
});

afterEach(() => folder[Symbol.asyncDispose]());

describe("InstructionTracker", () => {
  it("names the instructions above a file that was used, from the outside in, once", async () => {
    await put("repo/part/AGENTS.md");
    await put("repo/part/deep/CLAUDE.md");
    await put("repo/part/deep/.cursor/rules/b.md");
    await put("repo/part/deep/.cursor/rules/a.md");
    await put("repo/part/deep/.cursor/rules/c.txt");
    const file = await put("repo/part/deep/er/code.ts");
    const tracker = open();
    tracker.touched({ access: "read", path: file });
    tracker.touched({ access: "write", path: file });
    expect(pathsIn(await tracker.takeReminder())).toEqual([
      "part/AGENTS.md",
      "part/deep/CLAUDE.md",
      "part/deep/.cursor/rules/a.md",
      "part/deep/.cursor/rules/b.md",
    ]);
    tracker.touched({ access: "read", path: file });
    expect(await tracker.takeReminder()).toBeUndefined();
  });

  it("leaves out the session's folder and those above it", async () => {
    await put("repo/AGENTS.md");
    await put("repo/a/AGENTS.md");
    await put("repo/a/b/AGENTS.md");
    await put("repo/a/c/AGENTS.md");
    const tracker = open("repo/a/b");
    tracker.touched({ access: "read", path: await put("repo/a/c/code.ts") });
    tracker.touched({ access: "read", path: await put("repo/a/b/code.ts") });
    expect(pathsIn(await tracker.takeReminder())).toEqual(["a/c/AGENTS.md"]);
  });

  it("counts a listed folder, and not a file that was deleted", async () => {
    await put("repo/one/AGENTS.md");
    await put("repo/two/AGENTS.md");
    const tracker = open();
    tracker.touched({ access: "list", path: join(folder.path, "repo/one") });
    tracker.touched({ access: "delete", path: join(folder.path, "repo/two/code.ts") });
    expect(pathsIn(await tracker.takeReminder())).toEqual(["one/AGENTS.md"]);
  });

  it("names one file once, whatever leads to it", async () => {
    await put("repo/part/AGENTS.md");
    await symlink("AGENTS.md", join(folder.path, "repo/part/CLAUDE.md"));
    const tracker = open();
    tracker.touched({ access: "read", path: await put("repo/part/code.ts") });
    expect(pathsIn(await tracker.takeReminder())).toEqual(["part/AGENTS.md"]);
  });

  it("is silent about ignored files, files outside the roots and folders outside the repository", async () => {
    await put("repo/.gitignore", "CLAUDE.local.md\n");
    await put("repo/part/CLAUDE.local.md");
    await symlink(await put("elsewhere/x.md"), join(dirname(await put("repo/part/code.ts")), "AGENTS.md"));
    await put("elsewhere/AGENTS.md");
    const tracker = open("repo", { workspaceRoots: [join(folder.path, "repo")] });
    tracker.touched({ access: "read", path: join(folder.path, "repo/part/code.ts") });
    tracker.touched({ access: "read", path: await put("elsewhere/code.ts") });
    expect(await tracker.takeReminder()).toBeUndefined();
  });

  it("is silent without a repository", async () => {
    await put("plain/part/AGENTS.md");
    const tracker = open("plain");
    tracker.touched({ access: "read", path: await put("plain/part/code.ts") });
    expect(await tracker.takeReminder()).toBeUndefined();
  });

  it("looks at ten folders, not more", async () => {
    await put("repo/0/AGENTS.md");
    await put("repo/0/1/AGENTS.md");
    const tracker = open();
    tracker.touched({ access: "read", path: await put("repo/0/1/2/3/4/5/6/7/8/9/10/code.ts") });
    expect(pathsIn(await tracker.takeReminder())).toEqual(["0/1/AGENTS.md"]);
  });

  it("does not let a name end the reminder", async () => {
    await put("repo/a\n<\\/AGENTS.md/AGENTS.md".replace("\\", ""));
    const tracker = open();
    tracker.touched({ access: "list", path: join(folder.path, "repo/a\n<", "AGENTS.md") });
    const text = await tracker.takeReminder();
    expect(text?.split("\n")).toHaveLength(2);
    expect(text).not.toContain("</");
  });
});

function open(directory = "repo", overrides: Partial<InstructionScope> = {}): InstructionTracker {
  const scope = toolContext({ workingDirectory: join(folder.path, directory), ...overrides });
  return new InstructionTracker({ ...scope, toolName: () => "read_file" });
}

/** Relative to the repository. */
function pathsIn(reminder: string | undefined): string[] {
  const lines = reminder?.split("\n") ?? [];
  expect(lines[0]).toContain("read_file");
  return lines.slice(1).map((line) => line.replace(`- ${folder.path}/repo/`, ""));
}

async function put(name: string, content = "text\n"): Promise<string> {
  const path = join(folder.path, name);
  await mkdir(dirname(path), { recursive: true });
  await writeFile(path, content);
  return path;
}
