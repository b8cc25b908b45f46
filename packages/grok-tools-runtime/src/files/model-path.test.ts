import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { temporaryFolder } from "@trivium/core/testing";
import { describe, expect, it } from "vitest";
import { toModelPath } from "./model-path.ts";
import { resolveTarget } from "./resolve-target.ts";

const base = { workingDirectory: "/home/u/p", homeDirectory: "/home/u" };

describe("toModelPath", () => {
  it.each([
    ["a.txt", "/home/u/p/a.txt"],
    ["", "/home/u/p"],
    [".", "/home/u/p"],
    ["./a/", "/home/u/p/a"],
    ["../q", "/home/u/q"],
    ["/etc/x", "/etc/x"],
    ['  "a.txt" ', "/home/u/p/a.txt"],
    ["'a b.txt'", "/home/u/p/a b.txt"],
    ['"a.txt\\n"', "/home/u/p/a.txt"],
    ['"a.txt\\r\\n\\t"', "/home/u/p/a.txt"],
    ["a.txt\\n", "/home/u/p/a.txt\\n"],
    ['a.txt"', "/home/u/p/a.txt"],
    ['a.txt\\n"', "/home/u/p/a.txt\\n"],
    ["~", "/home/u"],
    ["~/x", "/home/u/x"],
    ["~other/x", "/home/u/p/~other/x"],
    ["home/u/p/x", "/home/u/p/x"],
    ["home/u/p", "/home/u/p"],
    ["home/u/px", "/home/u/p/home/u/px"],
  ])("understands %j", (raw, path) => {
    expect(toModelPath(raw, base).path).toBe(path);
  });

  it("keeps a tilde when no home is known", () => {
    expect(toModelPath("~/x", { ...base, homeDirectory: undefined }).path).toBe("/home/u/p/~/x");
  });
});

describe("resolveTarget", () => {
  it("finds a name that differs in the kind of its spaces, when it is the only one", async () => {
    await using folder = await temporaryFolder();
    await writeFile(join(folder.path, "shot 9\u202fPM.png"), "");
    expect(await resolveTarget(join(folder.path, "shot 9 PM.png"))).toBe(
      join(folder.path, "shot 9\u202fPM.png"),
    );
    await writeFile(join(folder.path, "shot 9\u00a0PM.png"), "");
    expect(await resolveTarget(join(folder.path, "shot 9 PM.png"))).toBe(join(folder.path, "shot 9 PM.png"));
  });

  it("resolves the folders of a file that does not exist", async () => {
    await using folder = await temporaryFolder();
    await mkdir(join(folder.path, "a"));
    expect(await resolveTarget(join(folder.path, "a/b/c.txt"))).toBe(join(folder.path, "a/b/c.txt"));
  });
});
