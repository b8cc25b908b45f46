import { mkdir, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { temporaryFolder } from "@trivium/core/testing";
import { describe, expect, it } from "vitest";
import { toolContext } from "../../testing/tool-context.ts";
import { type IgnoreFilter, ignoreFilter } from "./ignore-filter.ts";
import { matchesPattern, parseIgnorePattern } from "./ignore-pattern.ts";

describe("ignore patterns", () => {
  it.each([
    ["*.log", "a/b.log", true],
    ["*.log", "b.logs", false],
    ["/top", "top", true],
    ["/top", "a/top", false],
    ["a/b", "a/b", true],
    ["a/b", "x/a/b", false],
    ["**/b", "x/a/b", true],
    ["a/**/b", "a/b", true],
    ["a/**/b", "a/x/y/b", true],
    ["a/**", "a", false],
    ["a/**", "a/x", true],
    ["[ab]?.c", "bx.c", true],
    ["[!ab]", "a", false],
    ["[a-c]", "b", true],
    ["[]x]", "]", true],
    ["a[", "a[", false],
    ["\\#x", "#x", true],
    ["\\!x", "!x", true],
    ["x\\ ", "x ", true],
    ["x  ", "x", true],
    ["a*b*c", "aXbYc", true],
    ["a*b*c", "acb", false],
    ["*", "x/y", true],
  ])("%j and %j: %s", (line, path, expected) => {
    const pattern = parseIgnorePattern(line);
    expect(pattern !== undefined && matchesPattern(pattern, path.split("/"), false)).toBe(expected);
  });

  it.each(["", "   ", "# comment", "/", "!"])("takes %j for no pattern", (line) => {
    expect(parseIgnorePattern(line)).toBeUndefined();
  });

  it("matches a hostile pattern in no time", () => {
    const pattern = parseIgnorePattern(`${"*a".repeat(100)}b`);
    const start = performance.now();
    expect(pattern !== undefined && matchesPattern(pattern, ["a".repeat(250)], false)).toBe(false);
    expect(performance.now() - start).toBeLessThan(1000);
  });
});

describe("IgnoreFilter", () => {
  it("obeys the rules of a repository, the deeper file first", async () => {
    await using folder = await temporaryFolder();
    const filter = await repository(folder.path, {
      ".git/info/exclude": "private\n",
      ".gitignore": "*.log\nbuild/\n!keep.log\n",
      "sub/.gitignore": "!special.log\nkeep.log\n",
      "build/a.txt": "",
    });
    const verdicts = await Promise.all(
      [
        "a.log",
        "keep.log",
        "sub/special.log",
        "sub/keep.log",
        "build/a.txt",
        "build",
        "private",
        "src/a.ts",
      ].map(async (path) => [path, await filter.isIgnored(join(folder.path, path))] as const),
    );
    expect(Object.fromEntries(verdicts)).toEqual({
      "a.log": true,
      "keep.log": false,
      "sub/special.log": false,
      "sub/keep.log": true,
      "build/a.txt": true,
      build: true,
      private: true,
      "src/a.ts": false,
    });
  });

  it("notices a changed rule", async () => {
    await using folder = await temporaryFolder();
    const filter = await repository(folder.path, { ".git/HEAD": "", ".gitignore": "a\n" });
    expect(await filter.isIgnored(join(folder.path, "a"))).toBe(true);
    await writeFile(join(folder.path, ".gitignore"), "bb\n");
    expect(await filter.isIgnored(join(folder.path, "a"))).toBe(false);
  });

  it("ignores nothing outside a repository", async () => {
    await using folder = await temporaryFolder();
    const filter = await repository(folder.path, { ".gitignore": "a\n" });
    expect(await filter.isIgnored(join(folder.path, "a"))).toBe(false);
  });

  it("obeys the excludes of the user", async () => {
    await using folder = await temporaryFolder();
    const filter = await repository(folder.path, {
      "p/.git/HEAD": "",
      "p/x": "",
      "home/.gitconfig": "[user]\n\tname = u\n[core]\n\texcludesFile = ~/mine\n",
      "home/mine": "x\n",
    });
    const scope = toolContext({
      workingDirectory: join(folder.path, "p"),
      homeDirectory: join(folder.path, "home"),
    });
    expect(await scope.resource(ignoreFilter).isIgnored(join(folder.path, "p/x"))).toBe(true);
    expect(await filter.isIgnored(join(folder.path, "p/x"))).toBe(false);
  });
});

async function repository(root: string, files: Readonly<Record<string, string>>): Promise<IgnoreFilter> {
  for (const [path, content] of Object.entries(files)) {
    await mkdir(dirname(join(root, path)), { recursive: true });
    await writeFile(join(root, path), content);
  }
  return toolContext({ workingDirectory: root }).resource(ignoreFilter);
}
